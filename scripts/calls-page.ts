import { IDLE_CALLS, IDLE_PROCESSES, idleCallsOn } from '../packages/service/src/operate/idle-calls.ts'

const INTRO = `# Calls to nodes

Generated from \`packages/service/src/operate/idle-calls.ts\`. So many calls a second does an operator pay for while
nothing happens: measured by \`npm run bench -- idle\` with ${IDLE_PROCESSES}. \`service books\` adds them up for your
chains. A swap adds [some](../../test/bench/README.md#measured-on-the-mainnet-shape).

| chain | process | node 1 | node 2 | a second | in 30 days |
|---|---|---:|---:|---:|---:|
`

/** docs/operations/calls.md: the figures that `service books` prints, and the bench compares with. */
export function callsPage(): string {
  const rows = Object.entries(IDLE_CALLS).flatMap(([chain, { calls }]) => {
    const { perSecond, perMonth } = idleCallsOn(chain)
    const ofProcesses = Object.entries(calls).map(([process, ofNodes]) => {
      return `| ${chain} | ${process} | ${ofNodes.map((each) => each.toFixed(2)).join(' | ')} | | |`
    })
    return [
      ...ofProcesses,
      `| ${chain} | all | | | ${perSecond.toFixed(2)} | ${perMonth.toLocaleString('en')} |`,
    ]
  })
  return `${INTRO}${rows.join('\n')}\n`
}
