import { randomBytes } from 'node:crypto'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CliError } from '../errors.ts'
import type { Desk } from './desk.ts'
import { serveHttp } from './http.ts'
import { createMcpServer } from './server.ts'

export const DEFAULT_PORT = 8321
const MIN_TOKEN = 16

type Way = { kind: 'stdio' } | { kind: 'http'; port: string | undefined }

/** Until the client leaves, or somebody interrupts. */
export async function serve(desk: Desk, way: Way): Promise<void> {
  await (way.kind === 'http' ? serveAt(desk, way.port) : serveStdio(desk))
  await submissionsOf(desk)
}

async function serveStdio(desk: Desk): Promise<void> {
  const server = createMcpServer(desk)
  const left = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve))
  server.server.onerror = (error) => desk.log(error.message)
  await server.connect(new StdioServerTransport())
  await Promise.race([left, interrupted(desk)])
  await server.close()
}

async function serveAt(desk: Desk, text = `${DEFAULT_PORT}`): Promise<void> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536
  if (port > 65_535) throw new CliError('USAGE', `${text} is not a port.`)
  const { token: given } = desk.context.mcp
  if (given !== undefined && given.length < MIN_TOKEN)
    throw new CliError('USAGE', `GEOSWAP_MCP_TOKEN has to have ${MIN_TOKEN} characters at least.`)
  const token = given ?? randomBytes(24).toString('base64url')
  const http = await serveHttp({ port, token, createSession: () => createMcpServer(desk), log: desk.log })
  const { terminal } = desk.context
  if (terminal.json) terminal.result([], { url: http.url, ...(given === undefined && { token }) })
  desk.log(`ready ${http.url}`)
  if (given === undefined) desk.log(`token ${token}`)
  await interrupted(desk)
  await http.close()
}

function interrupted({ context }: Desk): Promise<void> {
  const { signal } = context.interrupts
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

// Less than an interrupted command gets; a submission is answered within milliseconds.
const GRACE_MS = 800

/** What is being submitted is in the journal and can be gone on with; better still is its answer. */
async function submissionsOf({ submitting }: Desk): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS)
  })
  await Promise.race([Promise.allSettled(submitting), late]).finally(() => clearTimeout(timer))
}
