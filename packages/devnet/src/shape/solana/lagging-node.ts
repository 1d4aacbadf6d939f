import {
  type Config,
  chancesOf,
  historyMethods,
  type Ledger,
  type Method,
  type Methods,
  readBank,
  type Slots,
} from '@geoswap/solana-rpc'

/**
 * A provider answers from a pool of nodes, and one of them may be some slots behind. Its history lacks slots
 * that `getSlot` of another node has shown, and it refuses a `minContextSlot` that it has not reached with
 * -32016. Sources: https://www.helius.dev/docs/rpc/guides/getslot (nodes of a pool differ), Agave's
 * custom_error.rs (the code).
 */
export type LaggingNode = {
  /** The share of calls that it answers, from 0 to 1. */
  share: number
  slots: number
  chance(): number
}

export function createLaggingNode(): LaggingNode {
  return { share: 0.1, slots: 3, chance: chancesOf(1) }
}

const LAGGING = ['getSignaturesForAddress', 'getTransaction'] as const

/** The same methods, sometimes answered by the lagging node. */
export function withLaggingNode(methods: Methods, ledger: Ledger, node: LaggingNode): Methods {
  const behind = (): Ledger => ({ ...ledger, slots: olderBy(ledger.slots, node.slots) })
  const atTimes =
    (current: Method, lagging: Method): Method =>
    (params) =>
      node.chance() < node.share ? lagging(params) : current(params)
  const entries = Object.entries(methods).map(([name, method]): [string, Method] => {
    if (LAGGING.some((each) => each === name)) {
      return [name, atTimes(method, (params) => historyMethods(behind())[name]?.(params))]
    }
    return [name, atTimes(method, (params) => refuseOr(behind(), method, params))]
  })
  return Object.fromEntries(entries)
}

function olderBy<T>(slots: Slots<T>, count: number): Slots<T> {
  const { processed, confirmed, finalized } = slots.lags
  const lags = { processed: processed + count, confirmed: confirmed + count, finalized: finalized + count }
  return { ...slots, lags }
}

/** Other methods answer as usual, unless the caller names a slot that the node has not reached. */
function refuseOr(behind: Ledger, method: Method, params: unknown[]): unknown {
  const config = params.find(hasMinContextSlot)
  if (config) readBank(behind, config)
  return method(params)
}

function hasMinContextSlot(value: unknown): value is Config {
  return (
    typeof value === 'object' && value !== null && 'minContextSlot' in value && value.minContextSlot !== null
  )
}
