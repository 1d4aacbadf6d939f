import type { DestinationChain } from '../../chains/chain.ts'
import type { Op } from '../../model/swap.ts'
import { isPurchase } from '../../model/venue.ts'

type Options = {
  /** The deliverable amount of a token, as last seen; undefined if unknown. */
  holdingOf(token: string): bigint | undefined
  /** The token whose delivery runs code of its recipient, if there is one. */
  strangeToken?: string | undefined
  now?: () => number
}

/** Longer than most swaps take from lock to delivery. */
const MEMORY_MS = 30_000
/** Deliveries that are due at the same time share the holdings. */
const AMPLE = 10n

/**
 * Simulates a delivery once instead of before both the lock and the delivery, if these are seconds apart. A purchase is
 * simulated again because its price moves, and so is a delivery that takes much of the holdings, or one whose recipient
 * may tell a simulation by its gas price. The memory of a simulation serves one delivery: a failed one is simulated
 * before the next try.
 */
export function simulateOnce<T extends Pick<DestinationChain, 'simulateDelivery'>>(
  chain: T,
  { holdingOf, strangeToken, now = () => performance.now() }: Options,
): T {
  const expiries = new Map<string, number>()

  function remember({ hash }: Op): void {
    for (const [old, expiry] of expiries) {
      if (expiry > now()) break
      expiries.delete(old)
    }
    expiries.delete(hash)
    expiries.set(hash, now() + MEMORY_MS)
  }

  function recall({ hash }: Op): boolean {
    const expiry = expiries.get(hash) ?? 0
    expiries.delete(hash)
    return expiry > now()
  }

  const isAmple = (op: Op) => (holdingOf(op.outputToken) ?? 0n) >= op.quotedOutput * AMPLE
  const isSafe = (op: Op) => !isPurchase(op) && op.outputToken !== strangeToken && isAmple(op)

  return {
    ...chain,
    async simulateDelivery(op, as) {
      if (as && recall(op) && isSafe(op)) return { kind: 'ok' }
      const simulation = await chain.simulateDelivery(op, as)
      if (!as && simulation.kind === 'ok') remember(op)
      return simulation
    },
  }
}
