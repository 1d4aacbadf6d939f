import {
  createSolanaRpcFromTransport,
  isSolanaError,
  type Rpc,
  type RpcTransport,
  type SolanaRpcApi,
} from '@solana/kit'
import { parseJsonWithBigInts, stringifyJsonWithBigInts } from '@solana/rpc-spec-types'
import { groupBy } from '../../swap/group.ts'
import { causesOf } from '../nodes/agree.ts'
import { createPostJson, type NodeWatch, type PostJson, unwatched } from '../nodes/post-json.ts'
import { createAgreement } from './agreement.ts'

// Agave's MAX_MULTIPLE_ACCOUNTS.
export const MAX_ACCOUNTS = 100

type Call = Parameters<RpcTransport>[0]
type Payload = { method: string; params: [addresses: string[], options: unknown] }
type Answer = { result?: { value: unknown[] } }
type Waiting = { call: Call; resolve(answer: unknown): void; reject(error: unknown): void }

const payloadOf = ({ payload }: Call) => payload as Payload
const addressesOf = ({ call }: Pick<Waiting, 'call'>) => payloadOf(call).params[0]

/** Combines reads of accounts in one tick and with equal options into one call. All others pass unchanged. */
export function gatherAccounts(transport: RpcTransport): RpcTransport {
  let waiting: Waiting[] = []
  const flush = () => {
    const taken = waiting
    waiting = []
    const optionsOf = ({ call }: Waiting) => stringifyJsonWithBigInts(payloadOf(call).params[1])
    for (const [, alike] of groupBy(taken, optionsOf))
      for (const part of partsOf(alike)) void readTogether(transport, part)
  }
  return ((call: Call) => {
    if (payloadOf(call).method !== 'getMultipleAccounts') return transport(call)
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ call, resolve, reject })
    })
  }) as RpcTransport
}

/** Parts that each fit into one call. */
function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: { addresses: Set<string>; waiting: Waiting[] }[] = []
  for (const each of waiting) {
    const last = parts.at(-1)
    const addresses = new Set([...(last?.addresses ?? []), ...addressesOf(each)])
    if (last && addresses.size <= MAX_ACCOUNTS) {
      last.addresses = addresses
      last.waiting.push(each)
    } else parts.push({ addresses: new Set(addressesOf(each)), waiting: [each] })
  }
  return parts.map((part) => part.waiting)
}

async function readTogether(transport: RpcTransport, part: readonly Waiting[]): Promise<void> {
  const [first] = part
  if (!first) return
  const addresses = [...new Set(part.flatMap(addressesOf))]
  const { method, params, ...envelope } = payloadOf(first.call)
  try {
    const payload = { ...envelope, method, params: [addresses, params[1]] }
    const answer = (await transport({ payload })) as Answer
    for (const each of part) each.resolve(answerFor(addressesOf(each), addresses, answer))
  } catch (error) {
    for (const { reject } of part) reject(error)
  }
}

/** An answer without a result is an error, which all of them receive. */
function answerFor(wanted: readonly string[], read: readonly string[], answer: Answer): Answer {
  const { result } = answer
  if (!result) return answer
  return { ...answer, result: { ...result, value: wanted.map((each) => result.value[read.indexOf(each)]) } }
}

/** `rpc` asks one node, and the next if it is silent; `nodes` are all of them, to ask each. */
export type SolanaClient = { rpc: Rpc<SolanaRpcApi>; nodes: readonly Rpc<SolanaRpcApi>[] }

/** `agreed` returns the answer of a majority of the nodes: for everything that money depends on. */
export type SolanaClients = SolanaClient & { agreed: SolanaClient }

type Options = {
  urls: readonly string[]
  timeoutMs?: number
  /** The name of this process in requests. */
  caller?: string | undefined
  /** A watch for each node, in the order of the URLs. */
  watches?: readonly NodeWatch[] | undefined
  assertOutsideTransaction?: () => void
}

// Unhealthy, or block or context slot not reached: this node is behind, another may not be.
const BEHIND = new Set([-32004, -32005, -32014, -32016])

/** Whether a read failed because every node that answered is behind the slot that was asked for. */
export const isEveryNodeBehind = (error: unknown): boolean =>
  isSolanaError(error) && BEHIND.has(error.context.__code)

/** A client over all of a chain's nodes. */
export function createSolanaClient(options: Options): SolanaClients {
  const { urls, timeoutMs = 5_000, caller, watches = [], assertOutsideTransaction = () => {} } = options
  if (urls.length === 0) throw new Error('A Solana client needs a node')
  const transports = urls.map((url, index) => {
    const watch = watches[index] ?? unwatched
    return createNode(createPostJson(url, { timeoutMs, caller, watch }), watch)
  })
  const open = (transport: RpcTransport) => {
    const guarded = (async (call) => {
      assertOutsideTransaction()
      return transport(call)
    }) as RpcTransport
    return createSolanaRpcFromTransport(guarded)
  }
  const nodes = transports.map(open)
  return {
    rpc: open(gatherAccounts(failOver(transports))),
    nodes,
    agreed: { rpc: open(createAgreement(transports.map(gatherAccounts))), nodes },
  }
}

/** Parses numbers as bigints: a 64-bit amount exceeds the number type. */
function createNode(post: PostJson, watch: NodeWatch): RpcTransport {
  return (async ({ payload, signal }) => {
    watch.called((payload as { method: string }).method)
    return parseJsonWithBigInts(await post(stringifyJsonWithBigInts(payload), signal))
  }) as RpcTransport
}

/** Starts with the node that answered last, so that a dead one costs its timeout once. */
function failOver(transports: readonly RpcTransport[]): RpcTransport {
  let preferred = 0
  return (async (call) => {
    let failure: unknown
    let behind: unknown
    for (let tried = 0; tried < transports.length; tried += 1) {
      const index = (preferred + tried) % transports.length
      try {
        const response = await transports[index]?.(call)
        if (isBehind(response)) {
          behind = response
          continue
        }
        preferred = index
        return response
      } catch (error) {
        failure = error
      }
    }
    if (behind !== undefined) return behind
    throw failure
  }) as RpcTransport
}

function isBehind(response: unknown): boolean {
  const { error } = (response ?? {}) as { error?: { code?: number | bigint } }
  return error?.code !== undefined && BEHIND.has(Number(error.code))
}

/** Whether an error of kit says that a node was silent: it passes on the codes of JSON-RPC, which are negative. */
export function isSolanaSilence(error: unknown): boolean {
  return causesOf(error).some((cause) => isSolanaError(cause) && cause.context.__code < 0)
}
