import type { Pool } from 'pg'
import type { Swap } from '../model/swap.ts'
import { markUnsigned } from '../store/unsigned.ts'

type Deps = {
  pool: Pool
  isSigned(swap: Swap): Promise<boolean>
  isRefundable(swap: Swap): Promise<boolean>
  onUnsigned(swap: Swap): void
}

export type SignedCheck = {
  /** Whether the input may be taken and the output paid. */
  isPayable(swap: Swap): Promise<boolean>
  isRefundable(swap: Swap): Promise<boolean>
}

/**
 * Verifies the wallet's signature before a key signs for a swap. Stops a swap whose terms the wallet did not sign, and
 * raises an alarm.
 */
export function createSignedCheck(deps: Deps): SignedCheck {
  async function note(swap: Swap, isFine: boolean): Promise<boolean> {
    const isKnown = (swap.isUnsigned ?? false) === !isFine
    if (isKnown) return isFine
    await markUnsigned(deps.pool, swap.id, !isFine)
    if (!isFine) deps.onUnsigned(swap)
    return isFine
  }
  return {
    isPayable: async (swap) => note(swap, await deps.isSigned(swap)),
    isRefundable: async (swap) => note(swap, await deps.isRefundable(swap)),
  }
}
