import type { FailureCode } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'
import type { WalletView } from '../chain.ts'

/** Why a lock of this wallet's input would fail, by what the wallet looks like; undefined when it would not. */
export function obstacleOf(swap: Swap, { delegation, balance }: WalletView): FailureCode | undefined {
  if (!isDelegated(swap, delegation)) return 'INVALID_AUTHORIZATION'
  return balance < swap.op.inputAmount ? 'INPUT_UNAVAILABLE' : undefined
}

/** Delegated to us, or about to be by the authorization that the swap carries. */
function isDelegated(swap: Swap, delegation: WalletView['delegation']): boolean {
  if (delegation.kind === 'ours') return true
  if (delegation.kind !== 'none' && delegation.kind !== 'older') return false
  return swap.delegation?.nonce === delegation.nonce
}
