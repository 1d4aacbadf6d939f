import type { Agent, AgentTool } from './agent.ts'

/** The parts of `IAgentRuntime`, `Memory` and `State` in use. */
type Runtime = {
  useModel(model: 'OBJECT_SMALL', params: { prompt: string; schema: AgentTool['input'] }): Promise<unknown>
}
type Message = { content: { text?: string } }
type State = { data: Record<string, unknown> }
type Say = (content: { text: string; actions: string[] }) => Promise<unknown>

type Result = { success: boolean; text: string; data?: Record<string, unknown>; error?: string }

type Action = {
  name: string
  description: string
  validate(): Promise<boolean>
  handler(
    runtime: Runtime,
    message: Message,
    state?: State,
    options?: unknown,
    callback?: Say,
  ): Promise<Result>
}

/** A plugin of elizaOS: each tool is an action, such as `EXECUTE_SWAP`. */
export function toElizaPlugin(agent: Agent): { name: string; description: string; actions: Action[] } {
  const description = 'Swaps tokens across chains from wallets that hold no gas coin, within limits.'
  return { name: 'geoswap', description, actions: agent.tools.map((tool) => toAction(agent, tool)) }
}

function toAction(agent: Agent, tool: AgentTool): Action {
  const name = tool.name.toUpperCase()
  return {
    name,
    description: tool.description,
    validate: async () => true,
    async handler(runtime, message, state, _, say) {
      const given = plannedOf(state, tool) ?? (await readArguments(agent, tool, runtime, message))
      const answer = await tool.run(given)
      await say?.({ text: answer.text, actions: [name] })
      if ('value' in answer) return { success: true, text: answer.text, data: answer.value }
      const { text, error } = answer
      return { success: false, text, data: { error }, error: error.code }
    },
  }
}

/** elizaOS keeps the arguments of a planned action under its name, beside fields of its own that begin with `_`. */
function plannedOf(state: State | undefined, { name }: AgentTool): unknown {
  const planned = state?.data[name.replaceAll('_', '')]
  if (typeof planned !== 'object' || planned === null) return undefined
  return Object.fromEntries(Object.entries(planned).filter(([key]) => !key.startsWith('_')))
}

/** Without a plan the runtime's model reads the arguments from the text of the message. */
function readArguments(
  { instructions }: Agent,
  { name, description, input }: AgentTool,
  runtime: Runtime,
  { content }: Message,
): Promise<unknown> {
  const task = `Write the arguments of ${name} as JSON. Leave out what the message does not say.`
  const prompt = [instructions, `${name}: ${description}`, task, `The message: ${content.text}`].join('\n\n')
  return runtime.useModel('OBJECT_SMALL', { prompt, schema: input })
}
