import { largest } from './amount.ts'

/** The vault's stock of a token. `isBought`: a venue buys the token from a pool if there is none. */
export type Stock = { held: bigint; reserved: bigint; isBought: boolean }

/**
 * The reserved share in thousandths; at 1,000 nothing more can be delivered. A bought token counts as unused, since its
 * pool supplies it, and so does one that was never stocked: `lastsPermille` tells one that ran out.
 */
export function usedPermille({ held, reserved, isBought }: Stock): bigint {
  if (isBought && reserved <= held) return 0n
  if (held > 0n) return (reserved * 1_000n) / held
  return reserved > 0n ? 1_000n : 0n
}

/** How long the free amount lasts, in thousandths of a day. Undefined if there is no daily need. */
export function lastsPermille({ held, reserved, isBought }: Stock, dailyNeed: bigint): bigint | undefined {
  if (isBought || dailyNeed === 0n) return undefined
  return (largest(held - reserved, 0n) * 1_000n) / dailyNeed
}
