/** The vault's stock of a token. `isBought`: a venue buys the token from a pool if there is none. */
export type Stock = { held: bigint; reserved: bigint; isBought: boolean }

/**
 * The reserved share in thousandths; at 1,000 nothing more can be delivered. A bought token counts as unused, since its
 * pool supplies it.
 */
export function usedPermille({ held, reserved, isBought }: Stock): bigint {
  if (isBought && reserved <= held) return 0n
  return held > 0n ? (reserved * 1_000n) / held : 1_000n
}

/** How long the free amount lasts, in thousandths of a day. Undefined if there is no daily need. */
export function lastsPermille({ held, reserved, isBought }: Stock, dailyNeed: bigint): bigint | undefined {
  if (isBought || dailyNeed === 0n) return undefined
  const free = held > reserved ? held - reserved : 0n
  return (free * 1_000n) / dailyNeed
}
