import { type Agent, dataOf, type JsonSchema } from './agent.ts'

/** `jsonSchema` of `ai`. */
type Ai<Schema> = { jsonSchema(schema: JsonSchema): Schema }

type AiTool<Schema> = {
  title: string
  description: string
  inputSchema: Schema
  needsApproval(input: unknown): boolean
  execute(
    input: unknown,
    options: { abortSignal?: AbortSignal | undefined },
  ): Promise<Record<string, unknown>>
}

/** `tools` of `generateText`, `streamText` and `ToolLoopAgent`. A refusal is a result with `error`. */
export function toAiTools<Schema>(agent: Agent, { jsonSchema }: Ai<Schema>): Record<string, AiTool<Schema>> {
  const tools = agent.tools.map(({ name, title, description, input, needsApproval, run }) => {
    const inputSchema = jsonSchema(input)
    const execute: AiTool<Schema>['execute'] = async (given, { abortSignal: signal }) =>
      dataOf(await run(given, { signal }))
    return [name, { title, description, inputSchema, needsApproval, execute }] as const
  })
  return Object.fromEntries(tools)
}
