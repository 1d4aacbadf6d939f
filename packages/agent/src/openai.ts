import { type Agent, dataOf, type JsonSchema } from './agent.ts'

type Options = {
  name: string
  description: string
  parameters: JsonSchema & { required: string[]; additionalProperties: true }
  strict: false
  needsApproval(context: unknown, input: unknown): Promise<boolean>
  execute(input: unknown, context?: unknown, details?: { signal?: AbortSignal }): Promise<string>
}

/** `tool` of `@openai/agents`. */
type OpenAi<Tool> = { tool(options: Options): Tool }

/**
 * `tools` of an `Agent`, which answer in JSON. A call that confirms a swap interrupts the run until a person has
 * approved it. Optional arguments exclude the strict mode; unknown ones are refused by the tool itself.
 */
export function toOpenAiTools<Tool>(agent: Agent, { tool }: OpenAi<Tool>): Tool[] {
  return agent.tools.map(({ name, description, input, needsApproval, run }) => {
    const { properties, required = [] } = input
    return tool({
      name,
      description,
      strict: false,
      parameters: { type: 'object', properties, required, additionalProperties: true },
      needsApproval: async (_, given) => needsApproval(given),
      execute: async (given, _, details) =>
        JSON.stringify(dataOf(await run(given, { signal: details?.signal }))),
    })
  })
}
