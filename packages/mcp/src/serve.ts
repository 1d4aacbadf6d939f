import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { UserError } from '@geoswap/wallet/errors'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { serveHttp } from './http.ts'
import type { McpContext } from './mcp-context.ts'
import { createMcpServer } from './server.ts'

export const DEFAULT_PORT = 8321
const MIN_TOKEN = 16

/** Other streams than those of the process are for tests. */
type Stdio = { kind: 'stdio'; stdin?: Readable; stdout?: Writable }
type Way = Stdio | { kind: 'http'; port: string | undefined }

/** Serves until the client disconnects or the process is interrupted. */
export async function serve(mcp: McpContext, way: Way): Promise<void> {
  await (way.kind === 'http' ? serveAt(mcp, way.port) : serveStdio(mcp, way))
  await submissionsOf(mcp)
}

async function serveStdio(mcp: McpContext, { stdin = process.stdin, stdout }: Stdio): Promise<void> {
  const server = createMcpServer(mcp)
  const left = new Promise<void>((resolve) => stdin.once('close', resolve).once('end', resolve))
  server.server.onerror = (error) => mcp.log(error.message)
  await server.connect(new StdioServerTransport(stdin, stdout))
  await Promise.race([left, interrupted(mcp)])
  await server.close()
}

async function serveAt(mcp: McpContext, text = `${DEFAULT_PORT}`): Promise<void> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536
  if (port > 65_535) throw new UserError('USAGE', `${text} is not a port.`)
  const { token: given } = mcp.context.mcp
  if (given !== undefined && given.length < MIN_TOKEN)
    throw new UserError('USAGE', `GEOSWAP_MCP_TOKEN must have at least ${MIN_TOKEN} characters.`)
  const token = given ?? randomBytes(24).toString('base64url')
  const http = await serveHttp({ port, token, createSession: () => createMcpServer(mcp), log: mcp.log })
  const { terminal } = mcp.context
  if (terminal.json) terminal.result([], { url: http.url, ...(given === undefined && { token }) })
  mcp.log(`ready ${http.url}`)
  if (given === undefined) mcp.log(`token ${token}`)
  await interrupted(mcp)
  await http.close()
}

function interrupted({ context }: McpContext): Promise<void> {
  const { signal } = context.interrupts
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

// Less than for an interrupted command; a submission is answered within milliseconds.
const GRACE_MS = 800

/** A submission in flight is in the journal and can be continued, but its answer is better. */
async function submissionsOf({ submitting }: McpContext): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS)
  })
  await Promise.race([Promise.allSettled(submitting), late]).finally(() => clearTimeout(timer))
}
