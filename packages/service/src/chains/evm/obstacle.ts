import type { FailureCode } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'
import type { WalletView } from '../chain.ts'

/**
 * Why a lock of this wallet's input would fail, by what the wallet looks like, or be for nothing: what is more than the
 * escrow lets go in an hour is never claimed, and goes back once it was paid for. Undefined when it would not.
 */
export function obstacleOf(
  swap: Swap,
  { delegation, balance, block }: WalletView,
  claimLimit: bigint,
): FailureCode | undefined {
  const { inputAmount } = swap.op
  if (block < swap.op.walletBlock)
    throw new Error('The node is behind the block at which the wallet was seen')
  if (!isDelegated(swap, delegation)) return 'INVALID_AUTHORIZATION'
  if (balance < inputAmount) return 'INPUT_UNAVAILABLE'
  return claimLimit < inputAmount && !isPaid(swap) ? 'DESTINATION_UNAVAILABLE' : undefined
}

/** Its input is owed: a cap may be closed for an hour, and opened again before the claim. */
const isPaid = ({ state }: Swap) => state !== 'accepted' && state !== 'locking'

/** Delegated to us, or about to be by the authorization that the swap carries. */
function isDelegated(swap: Swap, delegation: WalletView['delegation']): boolean {
  if (delegation.kind === 'ours') return true
  if (delegation.kind !== 'none' && delegation.kind !== 'older') return false
  return swap.delegation?.nonce === delegation.nonce
}
