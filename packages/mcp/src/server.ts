import { UserError } from '@geoswap/wallet/errors'
import { plain } from '@geoswap/wallet/plain'
import { product } from '@geoswap/wire/product'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import { type Answer, callTool } from './call-tool.ts'
import type { Call, McpContext } from './mcp-context.ts'
import { type AnyTool, createTools, INSTRUCTIONS, toJsonSchema } from './tools.ts'

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Creates the tools of one session on the shared state. */
export function createMcpServer(mcp: McpContext): Server {
  const options = { capabilities: { tools: {} }, instructions: INSTRUCTIONS }
  const server = new Server({ name: product.name, version: product.version }, options)
  const tools = createTools(mcp)
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toListed) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `Tool ${params.name} not found`)
    const { end, ...call } = toCall(server, extra)
    return callTool(mcp, tool, params.arguments ?? {}, call)
      .then(toResult)
      .finally(end)
  })
  return server
}

function toListed({ name, title, description, annotations, input, output }: AnyTool): Tool {
  const [inputSchema, outputSchema] = [toJsonSchema(input), toJsonSchema(output)]
  return { name, title, description, annotations, inputSchema, outputSchema }
}

/** The text is for people, the rest for programs. An error has no structured output. */
function toResult(answer: Answer): CallToolResult {
  const text = (each: string) => ({ type: 'text' as const, text: each })
  if ('value' in answer) return { structuredContent: answer.value, content: [text(answer.text)] }
  return { isError: true, content: [text(answer.text), text(JSON.stringify({ error: answer.error }))] }
}

const ASK_MS = 5 * 60_000

function toCall(server: Server, { signal, _meta, sendNotification }: Extra): Call & { end(): void } {
  const progressToken = _meta?.progressToken
  let progress = 0
  let isOpen = true
  const canAsk = server.getClientCapabilities()?.elicitation?.form !== undefined
  return {
    signal,
    report(message) {
      if (progressToken === undefined || !isOpen) return
      progress += 1
      const params = { progressToken, progress, message: plain(message) }
      // The client may have disconnected.
      sendNotification({ method: 'notifications/progress', params }).catch(() => {})
    },
    ask: canAsk ? (question: string) => ask(server, question, signal) : undefined,
    end() {
      isOpen = false
    },
  }
}

async function ask(server: Server, message: string, signal: AbortSignal): Promise<boolean> {
  const confirm = { type: 'boolean', title: 'Confirm', description: 'Yes.' } as const
  const requestedSchema = { type: 'object' as const, properties: { confirm }, required: ['confirm'] }
  try {
    const params = { message, requestedSchema }
    const { action, content } = await server.elicitInput(params, { timeout: ASK_MS, signal })
    return action === 'accept' && content?.['confirm'] === true
  } catch (cause) {
    const advice = 'Nothing was signed.'
    throw new UserError('DECLINED', 'The user was asked to confirm and did not answer.', { advice, cause })
  }
}
