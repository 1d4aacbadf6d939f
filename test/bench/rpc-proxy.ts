import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { now } from './clock.ts'
import { answerCalls } from './remote.ts'

// Stands between the service and a chain. It passes on every byte and notes what went by: transactions with
// the time they reached the node and the time of its answer, how often each method was called, and, from a
// subscription of its own, when each block of an EVM chain appeared.

export type Sent = { chain: string; txHash: string; arrivedAt: number; answeredAt: number }
export type SeenBlock = { chain: string; number: number; at: number }
export type RpcLog = {
  sent: Sent[]
  blocks: SeenBlock[]
  /** Calls by caller, chain and method. */
  calls: Record<string, number>
  /** HTTP requests, each of one or more calls. */
  requests: number
  /** What a request took, from its arrival here to its answer. */
  took: number[]
}
export type ProxyFunctions = {
  open(chain: string): Promise<number>
  connect(chain: { name: string; rpcUrl: string }): void
  /** What was noted since the last time. */
  take(): RpcLog
}

type Call = { method?: string; id?: unknown }
type Answer = { id?: unknown; result?: unknown }

const SENDING = ['eth_sendRawTransaction', 'sendTransaction']
const nodes = new Map<string, string>()
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
let log = createLog()

function createLog(): RpcLog {
  return { sent: [], blocks: [], calls: {}, requests: 0, took: [] }
}

function open(chain: string): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) =>
    pass(chain, request, response).catch(() => response.writeHead(502).end()),
  )
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

async function pass(chain: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await read(request)
  const arrivedAt = now()
  const answer = await forward(nodes.get(chain) ?? '', body)
  const answeredAt = now()
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  note(chain, request.url?.slice(1) ?? '', { body, answer: answer.body, arrivedAt, answeredAt })
}

function forward(url: string, body: Buffer): Promise<{ status: number; body: Buffer }> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const upstream = httpRequest(url, { method: 'POST', agent, headers }, (answer) => {
      read(answer).then((text) => resolve({ status: answer.statusCode ?? 502, body: text }), reject)
    })
    upstream.on('error', reject)
    upstream.end(body)
  })
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

type Passed = { body: Buffer; answer: Buffer; arrivedAt: number; answeredAt: number }

function note(chain: string, caller: string, { body, answer, ...times }: Passed): void {
  const calls = listOf<Call>(body)
  log.requests += 1
  log.took.push(times.answeredAt - times.arrivedAt)
  for (const { method = '' } of calls) {
    const name = `${caller} ${chain} ${method}`
    log.calls[name] = (log.calls[name] ?? 0) + 1
  }
  const sending = calls.filter(({ method = '' }) => SENDING.includes(method))
  if (sending.length === 0) return
  const answers = listOf<Answer>(answer)
  for (const { id } of sending) {
    const { result } = answers.find((candidate) => candidate.id === id) ?? {}
    if (typeof result === 'string') log.sent.push({ chain, txHash: result, ...times })
  }
}

function listOf<T>(text: Buffer): T[] {
  const parsed: T | T[] = JSON.parse(text.toString())
  return Array.isArray(parsed) ? parsed : [parsed]
}

function connect({ name, rpcUrl }: { name: string; rpcUrl: string }): void {
  nodes.set(name, rpcUrl)
  const socket = new WebSocket(rpcUrl.replace('http', 'ws'))
  const subscribe = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }
  socket.on('open', () => socket.send(JSON.stringify(subscribe)))
  socket.on('message', (data) => {
    const at = now()
    const { params }: { params?: { result?: { number?: string } } } = JSON.parse(String(data))
    const number = params?.result?.number
    if (number) log.blocks.push({ chain: name, number: Number(number), at })
  })
  socket.on('error', () => {})
}

function take(): RpcLog {
  const taken = log
  log = createLog()
  return taken
}

answerCalls({ open, connect, take } satisfies ProxyFunctions)
