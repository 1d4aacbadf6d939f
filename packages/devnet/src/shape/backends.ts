import { blockParamOf, filterOf, numberOf, withBlocks } from './block-params.ts'
import { type Call, type Next, type Rule, refuse, toHex } from './call.ts'
import type { Heads } from './heads.ts'

type Placed = { blockNumber: string | null; number?: string }

const BY_HASH = new Set(['eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt'])

/**
 * Whether the second backend answers this request: half of them, in an order that no polling pattern can
 * match.
 */
export function createBalancer(): () => boolean {
  let requests = 0
  return () => {
    requests += 1
    return Math.imul(requests, 2_654_435_761) >>> 31 === 1
  }
}

/**
 * A backend knows the chain only up to its own head. go-ethereum answers `header not found` for the state of
 * an unknown block (eth/api_backend.go), and null for the block itself. It refuses a range of logs beyond its
 * head (eth/filters/filter.go). Most providers omit the logs instead, and so does this one.
 */
export function showBackend(heads: Heads): Rule {
  return async (call, next) => {
    const known = (await heads.head()).number - call.lag
    if (call.method === 'eth_blockNumber') return toHex(known)
    if (BY_HASH.has(call.method)) return call.lag === 0 ? next(call) : byHash(call, next, known)
    const filter = call.method === 'eth_getLogs' ? filterOf(call) : undefined
    if (filter) {
      if ((numberOf(filter.fromBlock) ?? 0) > known) return []
      return next(await withBlocks(call, (block) => clamp(block, known, call.lag)))
    }
    const place = blockParamOf(call.method)
    if (!place) return next(call)
    const asked = numberOf(call.params[place.at])
    if (asked !== undefined && asked > known) return beyond(call, place.state, known)
    return call.lag === 0
      ? next(call)
      : next(await withBlocks(call, (block) => clamp(block, known, call.lag)))
  }
}

/** `pending` is unchanged: transactions propagate faster than blocks. */
function clamp(block: unknown, known: number, lag: number): unknown {
  const number = numberOf(block)
  if (number !== undefined) return number > known ? toHex(known) : block
  return lag > 0 && (block === undefined || block === 'latest') ? toHex(known) : block
}

function beyond(call: Call, readsState: boolean, known: number): null {
  if (call.method === 'eth_feeHistory') {
    refuse(`request beyond head block: requested ${Number(call.params[1])}, head ${known}`)
  }
  if (readsState) refuse('header not found')
  return null
}

async function byHash(call: Call, next: Next, known: number): Promise<unknown> {
  const found = (await next(call)) as Placed | null
  const number = found?.blockNumber ?? found?.number
  if (!found || !number || Number(number) <= known) return found
  if (call.method !== 'eth_getTransactionByHash') return null
  return { ...found, blockHash: null, blockNumber: null, transactionIndex: null }
}
