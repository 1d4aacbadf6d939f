/** What the vault has of a token. `isBought`: a venue buys it from a pool when there is none. */
export type Stock = { held: bigint; reserved: bigint; isBought: boolean }

/** How much of it is promised, in thousandths: at 1,000 nothing more can be delivered. */
export function usedPermille({ held, reserved, isBought }: Stock): bigint {
  if (held > 0n) return (reserved * 1_000n) / held
  return isBought && reserved === 0n ? 0n : 1_000n
}
