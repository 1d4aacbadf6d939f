import type { Agent, AgentTool, JsonSchema } from './agent.ts'

type Content = { type: 'text'; text: string }
type Result = { content: Content[]; structuredContent?: Record<string, unknown>; isError?: boolean }

type Config<Schema> = Pick<AgentTool, 'title' | 'description'> & {
  inputSchema: Schema
  outputSchema: Schema
  annotations: AgentTool['hints']
}
type Handler = (input: unknown, call: { mcpReq: { signal: AbortSignal } }) => Promise<Result>

/** `McpServer` of `@modelcontextprotocol/server`, and its `fromJsonSchema`. */
type McpServer<Schema> = {
  registerTool(name: string, config: Config<Schema>, handler: Handler): unknown
}
type Mcp<Schema> = { fromJsonSchema(schema: JsonSchema): Schema }

/** Adds the tools to a server that has others too. `geoswap mcp` is a server of its own. */
export function registerTools<Schema>(
  agent: Agent,
  server: McpServer<Schema>,
  { fromJsonSchema }: Mcp<Schema>,
): void {
  for (const { name, title, description, hints, input, output, run } of agent.tools) {
    const [inputSchema, outputSchema] = [fromJsonSchema(input), fromJsonSchema(output)]
    const config = { title, description, inputSchema, outputSchema, annotations: hints }
    server.registerTool(name, config, async (given, { mcpReq }) => {
      const answer = await run(given, { signal: mcpReq.signal })
      const text = (each: string): Content => ({ type: 'text', text: each })
      if ('value' in answer) return { content: [text(answer.text)], structuredContent: answer.value }
      const { error } = answer
      return { isError: true, content: [text(answer.text), text(JSON.stringify({ error }))] }
    })
  }
}
