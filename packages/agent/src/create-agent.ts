import { callTool } from '@geoswap/mcp/call-tool'
import { createTools, INSTRUCTIONS, type McpContext, toJsonSchema } from '@geoswap/mcp/tools'
import type { Agent, AgentTool, Confirm } from './agent.ts'

/** The tools of the MCP server, without a server. `confirm` takes the place of confirmation tokens. */
export function createAgent(mcp: McpContext, confirm?: Confirm): Agent {
  const tools = createTools(mcp).map((tool): AgentTool => {
    const { name, title, description, annotations, input, output } = tool
    return {
      name,
      title,
      description,
      hints: annotations,
      input: toJsonSchema(input),
      output: toJsonSchema(output),
      needsApproval: (given) => hasToken(given),
      run(given, { signal = new AbortController().signal, onProgress = () => {} } = {}) {
        return callTool(mcp, tool, given, { signal, report: onProgress, ask: confirm })
      },
    }
  })
  return { tools, instructions: INSTRUCTIONS, questionOf: mcp.confirmations.questionOf }
}

const hasToken = (input: unknown) =>
  typeof input === 'object' && input !== null && 'confirmationToken' in input
