import { isDeliverable } from './lifecycle.ts'
import { type Demand, withinRoom } from './room.ts'
import type { Swap } from './swap.ts'

/** Whether a delivery now would rely on a lock that a reorg can still undo and that is not booked as exposure. */
export function isExposing({ originFinal, originSafe, exposedCents }: Swap): boolean {
  return !originFinal && !originSafe && exposedCents === 0n
}

/** Whether a delivery now would add to the delivered and unclaimed value. */
export function isUnbooked({ state, unclaimedCents }: Swap): boolean {
  return unclaimedCents === 0n && isDeliverable(state)
}

/** Remaining caps of an origin chain, in cents. */
type OriginRoom = { exposed: bigint; unclaimed: bigint }

/** The swaps that fit into the caps, in order. The others wait until locks become final or claims free room. */
export function withinCaps(swaps: readonly Swap[], roomOf: (chainId: number) => OriginRoom): Swap[] {
  return withinRoom(swaps, demandsOf, (key) => {
    const [kind, chainId] = key.split(':')
    const room = roomOf(Number(chainId))
    return kind === 'exposed' ? room.exposed : room.unclaimed
  })
}

function demandsOf(swap: Swap): Demand[] {
  const { originChain, valueCents: amount } = swap.op
  const demands: Demand[] = []
  if (isExposing(swap)) demands.push({ key: `exposed:${originChain}`, amount })
  if (isUnbooked(swap)) demands.push({ key: `unclaimed:${originChain}`, amount })
  return demands
}
