import { hourOf } from '../../src/swap/exposure.ts'

/** Models the claim cap of one token in GeoEscrow: HourlyCapLib and claimMany, with the same arithmetic. */
export function createClaimWindow(limit: bigint) {
  let word = { limit, spent: 0n, hour: 0 }
  const spentAt = (seconds: number) => (word.hour === hourOf(seconds) ? word.spent : 0n)
  const roomAt = (seconds: number) => {
    const used = spentAt(seconds)
    return used < word.limit ? word.limit - used : 0n
  }
  return {
    roomAt,
    setLimit(newLimit: bigint, seconds: number): void {
      word = { limit: newLimit, spent: spentAt(seconds), hour: hourOf(seconds) }
    },
    /** Claims as many as fit, in order. Returns the deferred ones. */
    claimMany<T extends { amount: bigint }>(ops: readonly T[], seconds: number): T[] {
      const room = roomAt(seconds)
      let left = room
      const deferred = ops.filter(({ amount }) => {
        if (amount > left) return true
        left -= amount
        return false
      })
      word = { limit: word.limit, spent: spentAt(seconds) + room - left, hour: hourOf(seconds) }
      return deferred
    },
  }
}
