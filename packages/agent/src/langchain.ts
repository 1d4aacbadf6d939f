import { type Agent, dataOf, type JsonSchema } from './agent.ts'

type Fields = {
  name: string
  description: string
  schema: JsonSchema
  func(input: unknown, manager?: unknown, config?: { signal?: AbortSignal }): Promise<string>
}

/** `DynamicStructuredTool` of `@langchain/core/tools`. */
type Langchain<Tool> = { DynamicStructuredTool: new (fields: Fields) => Tool }

/** Tools for models and agents of LangChain, which answer in JSON. A refusal is an answer with `error`. */
export function toLangchainTools<Tool>(agent: Agent, { DynamicStructuredTool }: Langchain<Tool>): Tool[] {
  return agent.tools.map(
    ({ name, description, input: schema, run }) =>
      new DynamicStructuredTool({
        name,
        description,
        schema,
        func: async (given, _, config) =>
          JSON.stringify(dataOf(await run(given, { signal: config?.signal }))),
      }),
  )
}
