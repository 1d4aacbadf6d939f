import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { delay } from '../bench/clock.ts'
import type { Random } from '../bench/random.ts'
import type { Ledger } from './ledger.ts'
import { type ChainName, type Rates, type RequestFault, requestFaults } from './plan.ts'
import { type Answer, askedBy, type Call, toldBy, type View } from './views.ts'
import type { WriteAheadProbe } from './write-ahead.ts'

/** A temporary fault of a chain, or of one of its nodes if `node` is set. */
type NodeFault = { node?: number } & (
  | { kind: 'frozen' }
  | { kind: 'stale' | 'forked'; lag: number }
  | { kind: 'lying' }
  /** Transactions of this role are accepted and dropped. */
  | { kind: 'blackHole'; role: string }
)

export type FaultProxy = {
  /** One URL for each of the chain's nodes; a path after it names the caller. */
  urls: string[]
  node: string
  /** The signed bytes that passed, by hash. */
  raws: Map<string, string>
  counts: Map<string, number>
  cast(fault: NodeFault): () => void
  stop(): Promise<void>
}

type Options = {
  chain: ChainName
  /** The number of nodes of the chain in the service's configuration. */
  nodes: number
  node(): string
  rates: Rates
  random: Random
  probe: WriteAheadProbe
  ledger: Ledger
  /** Whether this caller may get faults now: not before it has started, nor after the run. */
  isFair(caller: string): boolean
}

type Asker = { node: number; caller: string }

const SENDING = ['eth_sendRawTransaction', 'sendTransaction']
// Answers that may be null for a while although the object exists: null proves nothing.
const MAY_BE_NULL = ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'getTransaction']
const LONGEST_DELAY_MS = 2_000
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/**
 * A proxy between the service and one chain that acts as several of its nodes. It applies the planned faults
 * to the requests to each of them, and inspects all sent transactions.
 */
export async function startFaultProxy(options: Options): Promise<FaultProxy> {
  const { chain, random, rates, ledger } = options
  const faults = new Map<NodeFault, View | undefined>()
  const forward = createForward(options.node)
  const raws = new Map<string, string>()
  const counts = new Map<string, number>()
  const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1)
  /** The current faults of this node for this caller. */
  const faultsOn = ({ node, caller }: Asker): NodeFault[] =>
    options.isFair(caller) ? [] : [...faults.keys()].filter((each) => (each.node ?? node) === node)
  const isFrozen = (asker: Asker) => faultsOn(asker).some(({ kind }) => kind === 'frozen')
  const viewOf = (asker: Asker) => faultsOn(asker).flatMap((each) => faults.get(each) ?? [])[0]

  function drawFault(caller: string): RequestFault | undefined {
    if (options.isFair(caller)) return undefined
    let roll = random.next()
    for (const fault of requestFaults) {
      roll -= rates[fault]
      if (roll < 0) return fault
    }
    return undefined
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, index, caller = ''] = request.url?.split('/') ?? []
    const asker = { node: Number(index), caller }
    const body = await read(request)
    const parsed: Call | Call[] = JSON.parse(body)
    const calls = [parsed].flat()
    const swallowed = await inspect(calls, asker)
    while (isFrozen(asker)) await delay(100)
    const view = viewOf(asker)
    const fault = drawFault(caller)
    if (fault) count(fault)
    if (fault === 'dropRequest') return void response.destroy()
    if (fault === 'serverError') return void response.writeHead(random.next() < 0.5 ? 429 : 500).end()
    if (fault === 'delay') await delay(random.integer(50, LONGEST_DELAY_MS))
    const kept = calls.filter((call) => !swallowed.has(call))
    const asked = view ? kept.map((call) => askedBy(view, call)) : kept
    const sent = JSON.stringify(Array.isArray(parsed) ? asked : asked[0])
    if (fault === 'duplicate') await forward(sent)
    const { status, retryAfter, text: reply } = kept.length > 0 ? await forward(sent) : EMPTY
    if (fault === 'dropReply') return void response.destroy()
    if (status !== 200) {
      count(`status ${status}`)
      return void response.writeHead(status, retryAfter ? { 'retry-after': retryAfter } : {}).end(reply)
    }
    const isChanged = view || swallowed.size > 0 || fault === 'rpcError' || fault === 'nullResult'
    const text = isChanged ? rewrite(reply) : reply
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(fault === 'truncated' ? text.slice(0, text.length / 2) : text)

    function rewrite(reply: string): string {
      const real: Answer[] = [JSON.parse(reply)].flat()
      const seen = (call: Call) => {
        const found = real.find(({ id }) => id === call.id) ?? real[0] ?? {}
        return answerTo(call, view ? toldBy(view, call, found) : found, fault)
      }
      const answers = calls.map((call) => swallowed.get(call) ?? seen(call))
      return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
    }
  }

  /** Signed bytes must be on record at this time. Returns the answers for dropped transactions. */
  async function inspect(calls: readonly Call[], asker: Asker): Promise<Map<Call, Answer>> {
    const swallowed = new Map<Call, Answer>()
    for (const call of calls) {
      if (!SENDING.includes(call.method ?? '')) continue
      const raw = String(call.params?.[0])
      const found = await options.probe.look(raw)
      raws.set(found.txHash, raw)
      const isLost = faultsOn(asker).some(
        (fault) => fault.kind === 'blackHole' && isIn(fault.role, found.role),
      )
      if (isLost) swallowed.set(call, { id: call.id, result: found.txHash })
      ledger.traffic({ chain, ...asker, ...found, isLost })
    }
    return swallowed
  }

  async function cast(cause: NodeFault): Promise<void> {
    if (cause.kind === 'stale' || cause.kind === 'forked') {
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
      const head = Number(JSON.parse((await forward(JSON.stringify(call))).text).result)
      faults.set(cause, { kind: cause.kind, at: Math.max(1, head - cause.lag) })
    } else faults.set(cause, cause.kind === 'lying' ? { kind: 'lying' } : undefined)
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urls: Array.from({ length: options.nodes }, (_, node) => `http://127.0.0.1:${port}/${node}`),
    get node() {
      return options.node()
    },
    raws,
    counts,
    cast(cause) {
      const done = cast(cause)
      return () => void done.then(() => faults.delete(cause))
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A fault for one role also applies to its burns and replacements. */
function isIn(hole: string, role: string | undefined): boolean {
  return role === hole || role === 'noop'
}

function answerTo(call: Call, found: Answer, fault?: RequestFault): Answer {
  if (fault === 'rpcError') return { id: call.id, error: { code: -32603, message: 'internal error' } }
  if (fault !== 'nullResult') return found
  if (MAY_BE_NULL.includes(call.method ?? '')) return { ...found, result: null }
  if (call.method !== 'getSignatureStatuses') return found
  const { value = [], ...rest } = found.result as { value: unknown[] }
  return { ...found, result: { ...rest, value: value.map(() => null) } }
}

/** All nodes are one: equal requests to several of them at the same time are sent once. */
function createForward(node: () => string): (body: string) => Promise<Reply> {
  const open = new Map<string, Promise<Reply>>()
  return (body) => {
    const same = open.get(body)
    if (same) return same
    const reply = post(node(), body).finally(() => open.delete(body))
    open.set(body, reply)
    return reply
  }
}

type Reply = { status: number; retryAfter?: string | undefined; text: string }
const EMPTY: Reply = { status: 200, text: '[]' }

function post(url: string, body: string): Promise<Reply> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const upstream = httpRequest(url, { method: 'POST', agent, headers }, (reply) => {
      const { statusCode: status = 502, headers } = reply
      read(reply).then((text) => resolve({ status, retryAfter: headers['retry-after'], text }), reject)
    })
    upstream.on('error', reject)
    upstream.end(body)
  })
}

async function read(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
