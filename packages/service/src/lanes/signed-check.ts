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
  /** Whether its input may be taken and its output paid. */
  isPayable(swap: Swap): Promise<boolean>
  isRefundable(swap: Swap): Promise<boolean>
}

/** Asks before anything is signed for a swap. One whose wallet did not sign its terms stands still, with an alarm. */
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
