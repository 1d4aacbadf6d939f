import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { stringifyJson } from './json.ts'
import { answerText, type Methods } from './json-rpc.ts'
import type { Notify } from './subscriptions.ts'

type HttpRequest = { url: string; userAgent: string | undefined; body: string }
export type HttpAnswer = { status: number; text: string | undefined; headers?: Record<string, string> }
export type AnswerHttp = (request: HttpRequest) => Promise<HttpAnswer>

type Api = {
  answer: AnswerHttp
  /** Called once per WebSocket; its methods are valid until `close`. */
  connect(notify: Notify): { methods: Methods; close(): void }
}
type Listening = { port: number; close(): Promise<void> }

const MAX_BODY_BYTES = 1_000_000
const PAIR_ATTEMPTS = 20
// Longer than any client keeps an idle connection, so that no request is sent on a closing one.
const KEEP_ALIVE_MS = 65_000
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/**
 * HTTP and WebSocket on `port`, and WebSocket also on the next port, where Solana clients expect it by
 * convention. With port 0 a free pair is chosen; with a given port, the next one is skipped if taken.
 */
export async function listen(api: Api, at: { host: string; port: number }): Promise<Listening> {
  for (let attempt = 1; ; attempt += 1) {
    const main = await open(api, at)
    const above =
      main.port < 65_535 ? await open(api, { ...at, port: main.port + 1 }).catch(takenAsUndefined) : undefined
    if (above || at.port !== 0 || attempt === PAIR_ATTEMPTS) {
      return { port: main.port, close: async () => void (await Promise.all([main.close(), above?.close()])) }
    }
    await main.close()
  }
}

async function open(api: Api, at: { host: string; port: number }): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answerHttp(api.answer, request, response).catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({ server, maxPayload: MAX_BODY_BYTES })
  sockets.on('connection', (socket) => serveSocket(api, socket))
  // The HTTP server reports its own errors below; without a listener here they would be thrown.
  sockets.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return { port, close: () => closeServer(server, sockets) }
}

async function closeServer(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.terminate()
  sockets.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

async function answerHttp(
  answer: AnswerHttp,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end()
  if (request.method === 'GET' && request.url === '/health')
    return void response.writeHead(200, CORS).end('ok')
  if (request.method !== 'POST')
    return void response.writeHead(405, CORS).end('Used HTTP Method is not allowed.')
  const body = await readBody(request)
  if (body === undefined) return void response.writeHead(413, { ...CORS, connection: 'close' }).end()
  const { url = '/', headers } = request
  const reply = await answer({ url, userAgent: headers['user-agent'], body })
  const type = { 'content-type': 'application/json; charset=utf-8' }
  response.writeHead(reply.status, { ...CORS, ...type, ...reply.headers }).end(reply.text)
}

/** Undefined if the body is larger than any request can be. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function serveSocket(api: Api, socket: WebSocket): void {
  const send = (text: string) => {
    if (socket.readyState === socket.OPEN) socket.send(text)
  }
  const { methods, close } = api.connect((notification) => send(stringifyJson(notification)))
  socket.on('close', close)
  socket.on('error', () => socket.terminate())
  socket.on('message', async (message) => {
    const reply = await answerText(methods, message.toString())
    if (reply !== undefined) send(reply)
  })
}

function takenAsUndefined(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
  throw error
}
