/** What the vault has of a token. `isBought`: a venue buys it from a pool when there is none. */
export type Stock = { held: bigint; reserved: bigint; isBought: boolean }

/**
 * How much of it is promised, in thousandths: at 1,000 nothing more can be delivered. What is bought is there as long
 * as its pool is, whatever the vault happens to hold of it.
 */
export function usedPermille({ held, reserved, isBought }: Stock): bigint {
  if (isBought && reserved <= held) return 0n
  return held > 0n ? (reserved * 1_000n) / held : 1_000n
}

/** How long what is free lasts, in thousandths of a day. Undefined where nothing of it is needed. */
export function lastsPermille({ held, reserved, isBought }: Stock, dailyNeed: bigint): bigint | undefined {
  if (isBought || dailyNeed === 0n) return undefined
  const free = held > reserved ? held - reserved : 0n
  return (free * 1_000n) / dailyNeed
}
