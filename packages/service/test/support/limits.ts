import type { Limits } from '../../src/stages/submit/submit-once.ts'
import { defaultGasBudgets } from '../../src/swap/budgets.ts'

/** Limits that leave all of the liquidity to one wallet. */
export const openLimits: Limits = {
  gas: defaultGasBudgets,
  reservations: { walletBps: 10_000, accountBps: 10_000 },
  lockUsdE6: () => 0n,
}
