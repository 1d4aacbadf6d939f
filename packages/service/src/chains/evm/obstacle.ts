import type { FailureCode } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'
import type { WalletView } from '../chain.ts'
import type { EvmClients } from './client.ts'
import { readWalletState, type WalletInput } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

type Deps = {
  clients: EvmClients
  settings: EvmChainSettings
  readClaimCap(token: string): Promise<{ perHour: bigint }>
}

export async function findObstacle({ clients, settings, readClaimCap }: Deps, swap: Swap) {
  const { wallet, inputToken: token, walletBlock } = swap.op
  const readState = (input: WalletInput) => readWalletState(clients, settings, input)
  const [state, { perHour }] = await Promise.all([readState({ wallet, token }), readClaimCap(token)])
  if (!obstacleOf(swap, state, perHour)) return undefined
  // A node that lags does not know yet what the wallet was given. At a block that is named it answers or fails.
  const head = await clients.client.getBlockNumber({ cacheTime: 0 })
  const blockNumber = head > walletBlock ? head : walletBlock
  return obstacleOf(swap, await readState({ wallet, token, blockNumber }), perHour)
}

/**
 * Why a lock of this wallet's input would fail, by what the wallet looks like, or be for nothing: what is more than the
 * escrow lets go in an hour is never claimed, and goes back once it was paid for. Undefined when it would not.
 */
export function obstacleOf(
  swap: Swap,
  { delegation, balance }: Omit<WalletView, 'block'>,
  claimLimit: bigint,
): FailureCode | undefined {
  const { inputAmount } = swap.op
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
