import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { createBalancer } from './backends.ts'
import { isEquipment } from './call.ts'
import { DIRECT_PATH } from './control-methods.ts'
import { type ErrorJson, toErrorJson } from './errors.ts'
import { createRateLimit, RATE_LIMITED } from './rate-limit.ts'
import type { ShapedChain } from './shaped-chain.ts'

type Client = { name: string; direct: boolean }
type Request = { id?: unknown; method?: unknown; params?: unknown }
type Subscriber = { socket: WebSocket; ids: Set<string> }

const PARSE_ERROR: ErrorJson = { code: -32_700, message: 'parse error' }
const INVALID_REQUEST: ErrorJson = { code: -32_600, message: 'invalid request' }
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** JSON-RPC over HTTP and WebSocket, as a provider offers it: limited, metered, by two backends. */
export function createRpcServer(chain: ShapedChain, keepAliveMs: number): Server {
  const admit = createRateLimit(chain.settings, Date.now)
  const isSecondBackend = createBalancer()

  /** The text of the reply, or the refusal of all of it. */
  async function reply(text: string, client: Client, subscriber?: Subscriber) {
    const parsed = parse(text)
    if (parsed === undefined) return { text: toText({}, { error: PARSE_ERROR }) }
    const requests = Array.isArray(parsed) ? parsed : [parsed]
    const counted = client.direct ? [] : requests.filter(({ method }) => !isEquipment(String(method)))
    const refusal = counted.length > 0 ? admit(client.name, counted.length) : undefined
    if (refusal) {
      for (const { method } of counted)
        chain.meter.recordRefusal({ client: client.name, method: String(method) })
      return { text: toText(requests[0] ?? {}, { error: RATE_LIMITED }), refusal }
    }
    const lag = !client.direct && !subscriber && isSecondBackend() ? chain.settings.backendLag : 0
    const bytes = Math.ceil(text.length / requests.length)
    const replies = await Promise.all(
      requests.map(async (request) => {
        const answered = await answer(request, lag, client, subscriber)
        if (counted.includes(request)) {
          const measured = { client: client.name, method: String(request.method) }
          chain.meter.record(measured, bytes, Buffer.byteLength(answered))
        }
        return answered
      }),
    )
    return { text: Array.isArray(parsed) ? `[${replies.join(',')}]` : (replies[0] ?? '') }
  }

  async function answer(
    request: Request,
    lag: number,
    client: Client,
    subscriber: Subscriber | undefined,
  ): Promise<string> {
    const { method, params = [] } = request
    if (typeof method !== 'string' || !Array.isArray(params))
      return toText(request, { error: INVALID_REQUEST })
    try {
      const result = await chain.answer({ method, params, lag })
      if (subscriber && method === 'eth_subscribe') subscribe(String(result), client, subscriber)
      return toText(request, { result: result ?? null })
    } catch (error) {
      return toText(request, { error: toErrorJson(error) })
    }
  }

  function subscribe(id: string, client: Client, { socket, ids }: Subscriber): void {
    ids.add(id)
    chain.subscriptions.add(id, (params) => {
      const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
      if (!client.direct) {
        chain.meter.record({ client: client.name, method: 'eth_subscription' }, 0, Buffer.byteLength(text))
      }
      socket.send(text)
    })
  }

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
  new WebSocketServer({ server }).on('connection', handleSocket)
  return server
}

function parse(text: string): Request | Request[] | undefined {
  try {
    const parsed = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

function toText({ id }: Request, outcome: { result: unknown } | { error: ErrorJson }): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...outcome })
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function clientOf(request: IncomingMessage): Client {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://chain')
  const name = searchParams.get('client') ?? request.headers['user-agent'] ?? 'unknown'
  return { name, direct: pathname === DIRECT_PATH }
}
