import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { UserError } from '@geoswap/wallet/errors'
import { isErrno } from '@geoswap/wallet/store/private-files'
import type { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { McpContext } from './mcp-context.ts'
import { createMcpServer } from './server.ts'

type Options = { port: number; token: string; createSession(): McpServer; log(line: string): void }

const LOOPBACK = '127.0.0.1'
const PATH = '/mcp'
const MAX_SESSIONS = 32

type Sessions = Map<string, StreamableHTTPServerTransport>

/**
 * Streamable HTTP for programs on this machine. Pages in a browser are refused by their Host or Origin
 * header.
 */
export async function serveHttp(options: Options) {
  const sessions: Sessions = new Map()
  const server = createServer((request, response) => {
    const refusal = refusalOf(request, { token: options.token, port: portOf(server) })
    if (refusal) return refuse(response, refusal)
    handle(sessions, options, request, response).catch((error: Error) => {
      options.log(`fault: ${error.stack}`)
      if (!response.headersSent) refuse(response, { status: 500, message: 'Internal error of geoswap.' })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(isErrno(error, 'EADDRINUSE') ? taken(options.port) : error))
    server.listen(options.port, LOOPBACK, resolve)
  })
  return {
    url: `http://${LOOPBACK}:${portOf(server)}${PATH}`,
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map((transport) => transport.close()))
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function taken(port: number): UserError {
  return new UserError('USAGE', `Port ${port} is taken.`, { advice: 'Choose another one: --http PORT.' })
}

type Refusal = { status: number; message: string }
type Asked = Pick<IncomingMessage, 'url' | 'headers'>

/**
 * The Host header shows a name that an attacker's DNS points here, the Origin header an attacker's page.
 * Other users of this machine do not have the token.
 */
export function refusalOf(
  { url, headers }: Asked,
  { token, port }: { token: string; port: number },
): Refusal | undefined {
  const hosts = [LOOPBACK, 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  if (!hosts.includes(headers.host ?? '')) return { status: 403, message: 'This host is not allowed.' }
  if (headers.origin !== undefined && !hosts.some((host) => headers.origin === `http://${host}`))
    return { status: 403, message: 'This origin is not allowed.' }
  if (!isSame(headers.authorization ?? '', `Bearer ${token}`))
    return { status: 401, message: 'Send the token of the server: Authorization: Bearer …' }
  if (url?.split('?')[0] !== PATH) return { status: 404, message: `There is only ${PATH}.` }
  return undefined
}

function isSame(text: string, secret: string): boolean {
  const digest = (of: string) => createHash('sha256').update(of).digest()
  return timingSafeEqual(digest(text), digest(secret))
}

async function handle(
  sessions: Sessions,
  options: Options,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const id = request.headers['mcp-session-id']
  const known = typeof id === 'string' ? sessions.get(id) : undefined
  if (id !== undefined && !known)
    return refuse(response, { status: 404, message: 'There is no such session.' })
  const transport = known ?? (await openSession(sessions, options))
  await transport.handleRequest(request, response)
  // Only an initialize request creates a session.
  if (!transport.sessionId) await transport.close()
}

async function openSession(
  sessions: Sessions,
  { createSession }: Options,
): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    async onsessioninitialized(id) {
      sessions.set(id, transport)
      const [oldest] = sessions.keys()
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) await sessions.get(oldest)?.close()
    },
  })
  const server = createSession()
  // The two types disagree on `undefined` in optional properties.
  await server.connect(transport as Transport)
  server.onclose = () => {
    if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
  }
  return transport
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  const error = { code: -32_000, message }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

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
  server.onerror = (error) => mcp.log(error.message)
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
  if (terminal.json) terminal.result([], { url: http.url, token: given === undefined ? token : undefined })
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
