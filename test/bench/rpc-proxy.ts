import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { now } from './clock.ts'
import { answerCalls } from './remote.ts'

// A proxy between the service and a chain. It forwards every byte unchanged and keeps a copy, which is parsed
// only on request. The copy shows transactions with the times of request and answer, and the number of calls
// by method. A subscription of its own shows when each block of an EVM chain appeared. Parsing HTTP on the
// way would cost as much processor time as the node itself.

export type Sent = { chain: string; txHash: string; arrivedAt: number; answeredAt: number }
export type SeenBlock = { chain: string; number: number; at: number }
export type RpcLog = {
  sent: Sent[]
  blocks: SeenBlock[]
  /** Calls by caller, chain and method. */
  calls: Record<string, number>
  /** HTTP requests, each of one or more calls. */
  requests: number
  /** The duration of each request, from its arrival here to its answer. */
  took: number[]
}
export type ProxyFunctions = {
  open(chain: string): Promise<number>
  connect(chain: { name: string; rpcUrl: string }): void
  /** Returns the records since the last call. */
  take(): RpcLog
}

type Call = { method?: string; id?: unknown }
type Answer = { id?: unknown; result?: unknown }

const SENDING = ['eth_sendRawTransaction', 'sendTransaction']
const nodes = new Map<string, string>()
const connections = new Set<() => void>()
let log = createLog()

function createLog(): RpcLog {
  return { sent: [], blocks: [], calls: {}, requests: 0, took: [] }
}

function open(chain: string): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => pass(chain, socket))
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Clients wait for an answer before the next request, so bytes after an answer begin the next exchange. */
function pass(chain: string, client: Socket): void {
  const { hostname, port } = new URL(nodes.get(chain) ?? '')
  const node = openSocket({ host: hostname, port: Number(port), noDelay: true })
  const exchanges: Exchange[] = []
  let exchange = createExchange()
  client.on('data', (bytes) => {
    if (exchange.answer.length > 0) exchange = createExchange()
    if (exchange.request.length === 0) exchanges.push(exchange)
    exchange.request.push(bytes)
    exchange.arrivedAt = now()
  })
  node.on('data', (bytes) => {
    if (exchange.answer.length === 0) exchange.answeredAt = now()
    exchange.answer.push(bytes)
  })
  client.pipe(node)
  node.pipe(client)
  const read = () => {
    const isOver = (each: Exchange) => isWhole(each.answer)
    for (const done of exchanges.filter(isOver)) note(chain, done)
    exchanges.splice(0, exchanges.length, ...exchanges.filter((each) => !isOver(each)))
  }
  connections.add(read)
  const end = () => {
    client.destroy()
    node.destroy()
  }
  for (const socket of [client, node]) socket.on('error', end).on('close', end)
}

type Exchange = { request: Buffer[]; answer: Buffer[]; arrivedAt: number; answeredAt: number }

function createExchange(): Exchange {
  return { request: [], answer: [], arrivedAt: 0, answeredAt: 0 }
}

function note(chain: string, { request, answer, ...times }: Exchange): void {
  const asked = readHttp(request)
  const calls = listOf<Call>(asked.body)
  log.requests += 1
  log.took.push(times.answeredAt - times.arrivedAt)
  for (const { method = '' } of calls) {
    const name = `${asked.path} ${chain} ${method}`
    log.calls[name] = (log.calls[name] ?? 0) + 1
  }
  const sending = calls.filter(({ method = '' }) => SENDING.includes(method))
  if (sending.length === 0) return
  const answers = listOf<Answer>(readHttp(answer).body)
  for (const { id } of sending) {
    const { result } = answers.find((candidate) => candidate.id === id) ?? {}
    if (typeof result === 'string') log.sent.push({ chain, txHash: result, ...times })
  }
}

/** The body of a message, and the path of a request, which identifies the caller. */
function readHttp(parts: readonly Buffer[]): { path: string; body: string } {
  const text = Buffer.concat(parts).toString('latin1')
  const from = text.indexOf('\r\n\r\n') + 4
  const isChunked = /\r\ntransfer-encoding: chunked\r\n/i.test(text.slice(0, from))
  const body = isChunked ? joinChunks(text.slice(from)) : text.slice(from)
  return { path: /^[A-Z]+ \/(\S*)/.exec(text)?.[1] ?? '', body: Buffer.from(body, 'latin1').toString() }
}

function joinChunks(text: string): string {
  const end = text.indexOf('\r\n')
  const size = Number.parseInt(text.slice(0, end), 16)
  if (!size) return ''
  const from = end + 2
  return text.slice(from, from + size) + joinChunks(text.slice(from + size + 2))
}

function isWhole(parts: readonly Buffer[]): boolean {
  const text = Buffer.concat(parts).toString('latin1')
  const from = text.indexOf('\r\n\r\n') + 4
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, from))?.[1]
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length - from === Number(length)
}

function listOf<T>(text: string): T[] {
  const parsed: T | T[] = JSON.parse(text)
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
  for (const read of connections) read()
  const taken = log
  log = createLog()
  return taken
}

answerCalls({ open, connect, take } satisfies ProxyFunctions)
