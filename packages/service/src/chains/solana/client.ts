import {
  createSolanaRpcFromTransport,
  isSolanaError,
  type Rpc,
  type RpcTransport,
  type SolanaRpcApi,
} from '@solana/kit'
import { parseJsonWithBigInts, stringifyJsonWithBigInts } from '@solana/rpc-spec-types'
import { createPostJson, type PostJson } from '../nodes/post-json.ts'
import { type NodeWatch, unwatched } from '../nodes/watch.ts'
import { createAgreement } from './agreement.ts'
import { gatherAccounts } from './gather.ts'

/** `rpc` asks one node, and the next if it is silent; `nodes` are all of them, to ask each. */
export type SolanaClient = { rpc: Rpc<SolanaRpcApi>; nodes: readonly Rpc<SolanaRpcApi>[] }

/** `agreed` returns the answer of a majority of the nodes: for everything that money depends on. */
export type SolanaClients = SolanaClient & { agreed: SolanaClient }

type Options = {
  urls: readonly string[]
  timeoutMs?: number
  /** The name of this process in requests. */
  caller?: string
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
