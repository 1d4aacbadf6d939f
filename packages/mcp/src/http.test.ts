import { Server } from 'node:http'
import { connect } from 'node:net'
import { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterEach, expect, test, vi } from 'vitest'
import { refusalOf, serveHttp } from './serve.ts'

const SERVER = { token: 'a token of 16 characters', port: 8321 }
const own = { host: '127.0.0.1:8321', authorization: `Bearer ${SERVER.token}` }
const statusOf = (headers: Record<string, string>, url = '/mcp') =>
  refusalOf({ url, headers }, SERVER)?.status

test('requests with the token are served under each name of this machine', () => {
  for (const host of ['127.0.0.1:8321', 'localhost:8321', '[::1]:8321'])
    expect(statusOf({ ...own, host, origin: `http://${host}` })).toBeUndefined()
})

test('a host name that DNS points to this machine is refused, with or without the token', () => {
  expect(statusOf({ ...own, host: 'attacker.example:8321' })).toBe(403)
  expect(statusOf({ ...own, host: '127.0.0.1' })).toBe(403)
  expect(statusOf({ authorization: own.authorization })).toBe(403)
})

test('a page of another origin is refused, with or without the token', () => {
  for (const origin of ['http://attacker.example', 'null', 'http://127.0.0.1:8322', 'https://127.0.0.1:8321'])
    expect(statusOf({ ...own, origin })).toBe(403)
})

test('requests without the token are refused', () => {
  expect(statusOf({ host: own.host })).toBe(401)
  expect(statusOf({ ...own, authorization: `Bearer ${SERVER.token}x` })).toBe(401)
  expect(statusOf({ ...own, authorization: SERVER.token })).toBe(401)
})

test('only one path is served', () => {
  expect(statusOf(own, '/')).toBe(404)
  expect(statusOf(own, '/mcp?a=b')).toBeUndefined()
})

type Served = Awaited<ReturnType<typeof serveHttp>>
const open: Served[] = []
afterEach(async () => {
  for (const served of open.splice(0)) await served.close()
})

const lines: string[] = []
const newSession = () => new McpServer({ name: 'test', version: '1' })

async function serve(port = 0, createSession = newSession): Promise<Served> {
  const log = (line: string) => void lines.push(line)
  const served = await serveHttp({ port, token: SERVER.token, createSession, log })
  open.push(served)
  return served
}

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** Posts a message. Returns the status and the session that it belongs to. */
async function post({ url }: Served, message: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: own.authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  })
  await response.text()
  return { status: response.status, session: response.headers.get('mcp-session-id') ?? '' }
}

test('a client opens a session with the token, and goes on in it', async () => {
  const served = await serve()

  const { status, session } = await post(served, initialize)
  const pinged = await post(served, { method: 'ping' }, { 'mcp-session-id': session })

  expect([status, pinged.status]).toEqual([200, 200])
  expect(session).not.toBe('')
})

test('nothing is served without the token, in an unknown session, or before a session begins', async () => {
  const served = await serve()
  const ping = { method: 'ping' }

  expect((await post(served, initialize, { authorization: 'Bearer wrong' })).status).toBe(401)
  expect((await post(served, ping, { 'mcp-session-id': 'unknown' })).status).toBe(404)
  expect((await post(served, ping)).status).toBe(400)
})

/** Sessions whose end can be seen. */
function sessionsOf() {
  const created: McpServer[] = []
  const create = () => {
    const session = newSession()
    created.push(session)
    return session
  }
  return { create, open: () => created.filter((session) => session.transport !== undefined).length }
}

test('the oldest sessions end when there are too many', async () => {
  const ends = sessionsOf()
  const served = await serve(0, ends.create)
  const sessions: string[] = []
  for (let count = 0; count < 34; count += 1) sessions.push((await post(served, initialize)).session)
  const ping = (session = '') => post(served, { method: 'ping' }, { 'mcp-session-id': session })

  expect((await ping(sessions[1])).status).toBe(404)
  expect((await ping(sessions[2])).status).toBe(200)
  expect((await ping(sessions[33])).status).toBe(200)
  expect(ends.open()).toBe(32)
})

test('a port that another program uses is named', async () => {
  const { url } = await serve()

  const { port } = new URL(url)
  await expect(serve(Number(port))).rejects.toMatchObject({
    code: 'USAGE',
    message: `Port ${port} is taken.`,
  })
})

test('a fault is logged with its stack, and the client is told only that there was one', async () => {
  const served = await serve(0, () => {
    throw new TypeError('secret')
  })

  expect((await post(served, initialize)).status).toBe(500)
  expect(lines).toEqual([expect.stringMatching(/^fault: TypeError: secret\n +at /)])
})

test('a fault after the answer is logged, and the answer stays', async () => {
  const served = await serve()
  const handle = vi
    .spyOn(StreamableHTTPServerTransport.prototype, 'handleRequest')
    .mockImplementation(async (_request, response) => {
      response.writeHead(202).end()
      throw new Error('late')
    })

  const { status } = await post(served, initialize)
  await vi.waitUntil(() => lines.at(-1)?.startsWith('fault: Error: late'))
  handle.mockRestore()

  expect(status).toBe(202)
})

test('a port that cannot be used for another reason is reported as the system says', async () => {
  const denied = Object.assign(new Error('denied'), { code: 'EACCES' })
  const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    this.emit('error', denied)
    return this
  })

  await expect(serve().finally(() => listen.mockRestore())).rejects.toBe(denied)
})

test('a request outside of a session leaves none behind', async () => {
  const sessions = sessionsOf()
  const served = await serve(0, sessions.create)
  await post(served, initialize)

  await post(served, { method: 'ping' })

  await vi.waitUntil(() => sessions.open() === 1)
})

test('a server that closes ends its sessions, and waits for no unfinished request', async () => {
  const sessions = sessionsOf()
  const served = await serve(0, sessions.create)
  await post(served, initialize)
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
  const isCut = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  await new Promise<void>((resolve) => void socket.write('POST /mcp HTTP/1.1\r\n', () => resolve()))

  await served.close()
  await isCut

  expect(sessions.open()).toBe(0)
})
