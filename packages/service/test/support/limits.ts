import type { Limits } from '../../src/flow/submit/submit-once.ts'
import { defaultGasBudgets } from '../../src/model/budgets.ts'

/** Limits that leave all of the liquidity to one wallet. */
export const openLimits: Limits = {
  gas: defaultGasBudgets,
  reservations: { walletBps: 10_000, accountBps: 10_000 },
  lockUsdE6: () => 0n,
}
