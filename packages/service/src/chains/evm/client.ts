import { setTimeout as delay } from 'node:timers/promises'
import {
  createPublicClient,
  createTransport,
  type EIP1193RequestFn,
  HttpRequestError,
  type PublicClient,
  RpcRequestError,
  type Transport,
} from 'viem'
import {
  createPostJson,
  HttpStatusError,
  type NodeWatch,
  type PostJson,
  unwatched,
} from '../nodes/post-json.ts'
import { createAgreement, createFallback, saysUnknownBlock, withPatience } from './agreement.ts'
import { createGathering } from './gather.ts'

type Options = {
  urls: readonly string[]
  timeoutMs?: number
  /** The name of this process in requests. */
  caller?: string | undefined
  /** A watch for each node, in the order of the URLs. */
  watches?: readonly NodeWatch[] | undefined
  assertOutsideTransaction?: () => void
  /** For how long to ask again while no backend knows the newest block; by default a caller does so itself. */
  patienceMs?: number | undefined
}

export type EvmClients = {
  /** Asks one node, and the next if it fails. */
  client: PublicClient
  /** Returns the answer of a majority of the nodes: for everything that money depends on. */
  agreed: PublicClient
  /** The same two, with contract reads and balances of one tick combined into one call. */
  gathered: { client: PublicClient; agreed: PublicClient }
  /** Each node separately, to broadcast to all of them. */
  nodes: readonly PublicClient[]
}

/** Clients over a chain's nodes. Calls of one tick share one request. */
export function createEvmClients(options: Options): EvmClients {
  const { urls, timeoutMs = 5_000, caller, watches = [], patienceMs = 0 } = options
  const { assertOutsideTransaction = () => {} } = options
  const transports = urls.map((url, index) =>
    createNode({ url, timeoutMs, caller, watch: watches[index] ?? unwatched, assertOutsideTransaction }),
  )
  const open = (transport: Transport) => createPublicClient({ transport, cacheTime: 0 })
  const any = withPatience(createFallback(transports), patienceMs)
  const agreed = withPatience(createAgreement(transports), patienceMs)
  return {
    client: open(any),
    agreed: open(agreed),
    gathered: { client: open(createGathering(any)), agreed: open(createGathering(agreed)) },
    nodes: transports.map(open),
  }
}

export function createEvmClient(options: Options): PublicClient {
  return createEvmClients(options).client
}

type NodeOptions = {
  url: string
  timeoutMs: number
  caller: string | undefined
  watch: NodeWatch
  assertOutsideTransaction: () => void
}

// A provider has several backends. One that lags does not know the newest block, and another answers the next request.
const MAX_ATTEMPTS = 3
const LAG_MS = 100

function createNode({ url, timeoutMs, caller, watch, assertOutsideTransaction }: NodeOptions): Transport {
  const call = createBatcher(url, createPostJson(url, { timeoutMs, caller, watch }))
  return () =>
    createTransport({
      key: 'node',
      name: 'JSON-RPC node',
      type: 'http',
      retryCount: 1,
      retryDelay: 50,
      timeout: timeoutMs,
      request: (async (body) => {
        for (let attempt = 1; ; attempt += 1) {
          assertOutsideTransaction()
          watch.called(body.method)
          const { error, result } = await call(body)
          if (!error) return result
          if (attempt === MAX_ATTEMPTS || !isLag(error))
            throw new RpcRequestError({ body: { method: body.method }, error, url: originOf(url) })
          await delay(LAG_MS)
        }
      }) as EIP1193RequestFn,
    })
}

/** The words of a contract that reverts are a stranger's, not the node's. */
const isLag = ({ data, message }: Failure) => data === undefined && saysUnknownBlock(message)

type Body = { method: string; params?: unknown }
type Failure = { code: number; message: string; data?: unknown }
type Reply = { id: number; result?: unknown; error?: Failure }
type Call = { body: Body; resolve(reply: Reply): void; reject(error: unknown): void }

const MAX_BATCH = 100

/** Collects calls until the next event loop turn and sends them in one request. */
function createBatcher(url: string, post: PostJson): (body: Body) => Promise<Reply> {
  const waiting: Call[] = []

  function flush(): void {
    while (waiting.length > 0) void ask(waiting.splice(0, MAX_BATCH))
  }
  async function ask(calls: readonly Call[]): Promise<void> {
    const requests = calls.map(({ body }, id) => ({ jsonrpc: '2.0', id, ...body }))
    try {
      const replies = repliesIn(await post(JSON.stringify(requests)), calls.length)
      for (const [id, call] of calls.entries()) call.resolve(replies[id] as Reply)
    } catch (error) {
      const failure = toViemError(error, url, requests)
      for (const call of calls) call.reject(failure)
    }
  }

  return (body) =>
    new Promise((resolve, reject) => {
      const call = { body, resolve, reject }
      // Sent at once and alone, so that its refusal does not affect other calls.
      if (body.method === 'eth_sendRawTransaction') return void ask([call])
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(call)
    })
}

/** One reply per call, matched by id. A node that refuses a whole batch answers with one error. */
function repliesIn(text: string, count: number): Reply[] {
  const parsed: Reply | Reply[] = JSON.parse(text)
  if (!Array.isArray(parsed)) return Array(count).fill(parsed)
  const replies: Reply[] = []
  for (const reply of parsed) replies[reply.id] = reply
  const missing = Array.from({ length: count }).findIndex((_, id) => replies[id] === undefined)
  if (missing >= 0) throw new Error('The node did not answer every call')
  return replies
}

/** Without path and query, which contain providers' keys: errors are logged. */
function originOf(url: string): string {
  return new URL(url).origin
}

/** Names only the methods: the parameters may contain a signed transaction. */
function toViemError(error: unknown, nodeUrl: string, requests: readonly Body[]): HttpRequestError {
  const url = originOf(nodeUrl)
  const body = requests.map(({ method }) => ({ method }))
  if (error instanceof HttpStatusError) {
    return new HttpRequestError({ body, url, status: error.status, details: error.text.slice(0, 200) })
  }
  return new HttpRequestError({ body, url, cause: error as Error })
}
