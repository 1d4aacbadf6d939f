import { type Demand, withinRoom } from './room.ts'
import type { Swap } from './swap.ts'

/** Whether a delivery now would rely on a lock that a reorg can still undo, and is not booked as such. */
export function isExposing({ originFinal, originSafe, exposedCents }: Swap): boolean {
  return !originFinal && !originSafe && exposedCents === 0n
}

/** Whether a delivery now would add to what is delivered and not claimed. */
export function isUnbooked({ state, unclaimedCents }: Swap): boolean {
  return unclaimedCents === 0n && (state === 'locked' || state === 'delivering')
}

/** What the caps of an origin chain leave room for, in cents. */
export type OriginRoom = { exposed: bigint; unclaimed: bigint }

/**
 * Those that the caps leave room for, in their order. The others wait until their locks are final, or others' are, or
 * until others are claimed.
 */
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
