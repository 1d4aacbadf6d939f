type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>
type Describe = (state: string) => { status: string; substatus: string }

const INTRO = `# States of a swap

Generated from \`packages/service/src/swap/lifecycle.ts\`. A caller sees \`status\` and \`substatus\`; the state
behind them says what the service does next. Nothing ever leaves a terminal status.
`

/** docs/states.md: the diagram and the table of the transition table that the code uses. */
export function statesPage(transitions: Transitions, describe: Describe): string {
  const states = Object.keys(transitions)
  const edges = states.flatMap((from) =>
    Object.entries(transitions[from] ?? {}).map(([event, to]) => ({ from, event, to })),
  )
  const first = states[0]
  const diagram = [
    'stateDiagram-v2',
    ...(first ? [`  [*] --> ${first}: submit`] : []),
    ...edges.map(({ from, event, to }) => `  ${from} --> ${to}: ${event}`),
    ...states.filter((state) => isEnd(transitions, state)).map((state) => `  ${state} --> [*]`),
  ]
  const rows = states.map((state) => {
    const { status, substatus } = describe(state)
    return `| \`${state}\` | \`${status}\` | \`${substatus}\` |`
  })
  const table = ['| state | status | substatus |', '|---|---|---|', ...rows]
  return `${INTRO}\n\`\`\`mermaid\n${diagram.join('\n')}\n\`\`\`\n\n${table.join('\n')}\n`
}

function isEnd(transitions: Transitions, state: string): boolean {
  return Object.keys(transitions[state] ?? {}).length === 0
}
