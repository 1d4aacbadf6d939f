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
import { type Place, type Rates, type RequestFault, requestFaults } from './plan.ts'
import type { WriteAheadProbe } from './write-ahead.ts'

type Call = { id?: unknown; method?: string; params?: unknown[] }
type Answer = { id?: unknown; result?: unknown; error?: unknown }

/** What is wrong with a chain's node for a while. */
export type Spell =
  | { kind: 'frozen' }
  | { kind: 'stale'; lag: number }
  /** Transactions of this role are taken with thanks, and go nowhere. */
  | { kind: 'blackHole'; role: string }

export type FaultProxy = {
  url: string
  node: string
  /** The signed bytes that came by, by hash. */
  raws: Map<string, string>
  counts: Map<string, number>
  cast(spell: Spell): () => void
  stop(): Promise<void>
}

type Options = {
  chain: Place
  node(): string
  rates: Rates
  random: Random
  probe: WriteAheadProbe
  ledger: Ledger
  /** Whether faults happen to this caller now: none do before it has started, nor when the run is over. */
  isFair(caller: string): boolean
}

const SENDING = ['eth_sendRawTransaction', 'sendTransaction']
// Answers that may be empty for a while although something is there: silence proves nothing.
const MAY_BE_NULL = ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'getTransaction']
const LONGEST_DELAY_MS = 2_000
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/** Stands between the service and one chain: does what the plan says to requests, and looks at all that is sent. */
export async function startFaultProxy(options: Options): Promise<FaultProxy> {
  const { chain, random, rates, ledger } = options
  const spells = new Set<Spell>()
  const raws = new Map<string, string>()
  const counts = new Map<string, number>()
  const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1)
  const spell = <K extends Spell['kind']>(kind: K) =>
    [...spells].find((each): each is Extract<Spell, { kind: K }> => each.kind === kind)

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
    const caller = request.url?.slice(1) ?? ''
    const body = await read(request)
    const parsed: Call | Call[] = JSON.parse(body)
    const calls = [parsed].flat()
    const swallowed = await inspect(calls, caller)
    while (spell('frozen') && !options.isFair(caller)) await delay(100)
    const fault = drawFault(caller)
    if (fault) count(fault)
    if (fault === 'dropRequest') return void response.destroy()
    if (fault === 'serverError') return void response.writeHead(random.next() < 0.5 ? 429 : 500).end()
    if (fault === 'delay') await delay(random.integer(50, LONGEST_DELAY_MS))
    const kept = calls.filter((call) => !swallowed.has(call))
    const sent = JSON.stringify(Array.isArray(parsed) ? aged(kept, caller) : aged(kept, caller)[0])
    if (fault === 'duplicate') await forward(sent)
    const reply = kept.length > 0 ? await forward(sent) : '[]'
    if (fault === 'dropReply') return void response.destroy()
    const isChanged = swallowed.size > 0 || fault === 'rpcError' || fault === 'nullResult'
    const text = isChanged ? rewrite(reply) : reply
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(fault === 'truncated' ? text.slice(0, text.length / 2) : text)

    function rewrite(reply: string): string {
      const real: Answer[] = [JSON.parse(reply)].flat()
      const answers = calls.map((call) => swallowed.get(call) ?? answerTo(call, real, fault))
      return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
    }
  }

  function answerTo(call: Call, real: readonly Answer[], fault?: RequestFault): Answer {
    if (fault === 'rpcError') return { id: call.id, error: { code: -32603, message: 'internal error' } }
    const found = real.find(({ id }) => id === call.id) ?? real[0] ?? {}
    if (fault !== 'nullResult') return found
    if (MAY_BE_NULL.includes(call.method ?? '')) return { ...found, result: null }
    if (call.method !== 'getSignatureStatuses') return found
    const { value = [], ...rest } = found.result as { value: unknown[] }
    return { ...found, result: { ...rest, value: value.map(() => null) } }
  }

  /** Signed bytes have to be on record at this very moment. Returns the answers to what goes nowhere. */
  async function inspect(calls: readonly Call[], caller: string): Promise<Map<Call, Answer>> {
    const swallowed = new Map<Call, Answer>()
    for (const call of calls) {
      if (!SENDING.includes(call.method ?? '')) continue
      const raw = String(call.params?.[0])
      const found = await options.probe.look(raw)
      raws.set(found.txHash, raw)
      const hole = options.isFair(caller) ? undefined : spell('blackHole')
      const isLost = hole !== undefined && found.role !== undefined && isIn(hole.role, found.role)
      if (isLost) swallowed.set(call, { id: call.id, result: found.txHash })
      ledger.traffic({ chain, caller, ...found, isLost })
    }
    return swallowed
  }

  let head = 0
  /** As a node would answer that is some blocks behind. */
  function aged(calls: readonly Call[], caller: string): Call[] {
    const lag = options.isFair(caller) ? undefined : spell('stale')?.lag
    if (lag === undefined) return [...calls]
    const old = `0x${Math.max(1, head - lag).toString(16)}`
    const replace = (param: unknown) => (param === 'latest' ? old : param)
    return calls.map((call) => ({ ...call, params: call.params?.map(replace) ?? [] }))
  }

  async function forward(body: string): Promise<string> {
    return post(options.node(), body)
  }

  async function cast(cause: Spell): Promise<void> {
    if (cause.kind === 'stale') {
      const call = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
      head = Number(JSON.parse(await forward(JSON.stringify(call))).result)
    }
    spells.add(cause)
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get node() {
      return options.node()
    },
    raws,
    counts,
    cast(cause) {
      void cast(cause)
      return () => void spells.delete(cause)
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What was meant for one role reaches its burns and replacements as well. */
function isIn(hole: string, role: string): boolean {
  return role === hole || role === 'noop'
}

function post(url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const upstream = httpRequest(url, { method: 'POST', agent, headers }, (reply) => {
      read(reply).then(resolve, reject)
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
