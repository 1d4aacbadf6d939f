import { plain, plainDeep } from '@geoswap/wallet/plain'
import { Value } from 'typebox/value'
import { type Call, type McpContext, openCall } from './mcp-context.ts'
import { type Refusal, toFault, toRefusal, toToolError, whatIsWrong } from './tool-errors.ts'
import type { AnyTool } from './tools.ts'

/** The text is for people, the rest for programs. */
export type Answer = { text: string; value: Record<string, unknown> } | Refusal

/** Runs a tool. Returns its result with a short text, or a refusal with advice; it never throws. */
export async function callTool(mcp: McpContext, tool: AnyTool, input: unknown, asked: Call): Promise<Answer> {
  const { ask } = asked
  const call = { ...asked, ask: ask && ((question: string) => ask(plain(question))) }
  const wrong = whatIsWrong(tool.input, input)
  if (wrong !== undefined) return toRefusal({ code: 'USAGE', message: wrong })
  const opened = openCall(mcp, call)
  try {
    const result = plainDeep(await tool.run(opened, input, call))
    if (!Value.Check(tool.output, result)) throw new TypeError(`${tool.name} returned something else`)
    return { text: tool.describe(result).join('\n'), value: { ...(result as object) } }
  } catch (error) {
    const told = toToolError(error, opened.context)
    if (told) return toRefusal(told)
    mcp.log(error instanceof Error ? `fault: ${error.stack}` : `fault: ${error}`)
    return toRefusal(toFault(opened.context))
  }
}
