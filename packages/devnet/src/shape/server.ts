import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { DIRECT_PATH } from './control-methods.ts'
import { nameOfClient } from './meter.ts'
import { type Client, createReplies } from './replies.ts'
import type { ShapedChain } from './shaped-chain.ts'

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** JSON-RPC over HTTP and WebSocket. */
export function createRpcServer(chain: ShapedChain, keepAliveMs: number): Server {
  const reply = createReplies(chain)

  async function handleHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'OPTIONS') return void response.writeHead(200, CORS).end()
    const { text, refusal } = await reply(await readBody(request), clientOf(request))
    const headers: Record<string, string> = { ...CORS, 'content-type': 'application/json' }
    if (refusal?.retryAfterSeconds) headers['retry-after'] = String(refusal.retryAfterSeconds)
    response.writeHead(refusal ? 429 : 200, headers).end(text)
  }

  function handleSocket(socket: WebSocket, request: IncomingMessage): void {
    const client = clientOf(request)
    const subscriber = { socket, ids: new Set<string>() }
    socket.on('message', async (message) => {
      const { text } = await reply(String(message), client, subscriber)
      socket.send(text)
    })
    socket.on('close', () => {
      for (const id of subscriber.ids) {
        chain.subscriptions.remove(id)
        void chain.answer({ method: 'eth_unsubscribe', params: [id], lag: 0 })
      }
    })
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    handleHttp(request, response).catch((error) => response.destroy(error))
  })
  acceptSockets(server, handleSocket)
  return server
}

/**
 * Serves WebSockets on the port of an HTTP server. Not by the option `server`: it would throw the errors of that
 * server a second time, as when its port is taken.
 */
export function acceptSockets(
  server: Server,
  serve: (socket: WebSocket, request: IncomingMessage) => void,
): void {
  const sockets = new WebSocketServer({ noServer: true }).on('connection', serve)
  server.on('upgrade', (request, stream, head) => {
    sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit('connection', socket, request))
  })
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function clientOf(request: IncomingMessage): Client {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://chain')
  return { name: nameOfClient(searchParams, request.headers['user-agent']), direct: pathname === DIRECT_PATH }
}
