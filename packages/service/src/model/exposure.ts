import type { Swap } from './swap.ts'

/** Whether a delivery now would rely on a lock that a reorg can still undo, and is not booked as such. */
export function isExposing({ originFinal, originSafe, exposedCents }: Swap): boolean {
  return !originFinal && !originSafe && exposedCents === 0n
}

/** Those that the caps leave room for, in their order. The others wait until their locks are final, or others' are. */
export function withinCaps(swaps: readonly Swap[], roomOf: (chainId: number) => bigint): Swap[] {
  const left = new Map<number, bigint>()
  return swaps.filter((swap) => {
    if (!isExposing(swap)) return true
    const { originChain, valueCents } = swap.op
    const room = left.get(originChain) ?? roomOf(originChain)
    if (valueCents > room) return false
    left.set(originChain, room - valueCents)
    return true
  })
}
