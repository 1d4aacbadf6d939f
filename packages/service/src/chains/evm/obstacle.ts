import { getAddress } from 'viem'
import { isUnlocked } from '../../model/lifecycle.ts'
import { isOthers } from '../../model/origin-methods.ts'
import type { FailureCode } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'
import type { WalletView } from '../chain.ts'
import type { EvmClients } from './client.ts'
import { toDelegation } from './delegation.ts'
import { readCodeStart } from './gather.ts'
import { readBalance, readWalletState, type WalletInput } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { takesAuthorization, takesPermit } from './signed-transfer.ts'

type Deps = {
  clients: EvmClients
  settings: EvmChainSettings
  readClaimCap(token: string): Promise<{ perHour: bigint }>
}

export async function findObstacle(deps: Deps, swap: Swap): Promise<FailureCode | undefined> {
  const { method = 'delegation' } = swap.op
  return method === 'delegation' ? findDelegatedObstacle(deps, swap) : findWayObstacle(deps, swap, method)
}

type OtherMethod = Exclude<Swap['op']['method'], 'delegation' | undefined>

/** Asks the token itself whether it would take the signature now. */
async function findWayObstacle(
  { clients, settings, readClaimCap }: Deps,
  swap: Swap,
  method: OtherMethod,
): Promise<FailureCode | undefined> {
  const { op } = swap
  const { perHour } = await readClaimCap(op.inputToken)
  if (perHour < op.inputAmount && isUnlocked(swap.state)) return 'DESTINATION_UNAVAILABLE'
  // A deposit was seen by a majority: a single node that stands still must not say that it is gone.
  const client = method === 'deposit' ? clients.agreed : clients.client
  const head = await client.getBlockNumber({ cacheTime: 0 })
  // A lagging node may not know the wallet's funds yet. Asked for a given block, it answers correctly or fails.
  const blockNumber = head > op.walletBlock ? head : op.walletBlock
  const owner = getAddress(method === 'deposit' ? (op.depositAddress ?? op.wallet) : op.wallet)
  const held = await readBalance(client, { owner, token: getAddress(op.inputToken), blockNumber })
  if (held < op.inputAmount) return 'INPUT_UNAVAILABLE'
  if (method === 'deposit') return undefined
  if (isUnlocked(swap.state) && !op.isContract && (await hasOthersCode(clients, settings, op.wallet)))
    return 'INVALID_AUTHORIZATION'
  const isTaken = method === 'authorization' ? takesAuthorization : takesPermit
  return (await isTaken(clients.client, settings, swap, blockNumber)) ? undefined : 'INVALID_AUTHORIZATION'
}

/** Code that came after the build: budgets and tries of contract wallets were not applied to the op. */
async function hasOthersCode({ gathered }: EvmClients, settings: EvmChainSettings, wallet: string) {
  const code = await readCodeStart(gathered.client, getAddress(wallet))
  return isOthers(toDelegation({ code, nonce: 0, pendingNonce: 0 }, settings).kind)
}

async function findDelegatedObstacle({ clients, settings, readClaimCap }: Deps, swap: Swap) {
  const { wallet, inputToken: token, walletBlock } = swap.op
  const readState = (input: WalletInput) => readWalletState(clients, settings, input)
  const [state, { perHour }] = await Promise.all([readState({ wallet, token }), readClaimCap(token)])
  if (!obstacleOf(swap, state, perHour)) return undefined
  // A lagging node may not know the wallet's funds yet. Asked for a given block, it answers correctly or fails.
  const head = await clients.client.getBlockNumber({ cacheTime: 0 })
  const blockNumber = head > walletBlock ? head : walletBlock
  return obstacleOf(swap, await readState({ wallet, token, blockNumber }), perHour)
}

/**
 * The reason why locking this input would fail, or be in vain: an input above the hourly claim cap could never be
 * claimed, and would be refunded after the delivery. Undefined if there is none.
 */
export function obstacleOf(
  swap: Swap,
  { delegation, balance }: Omit<WalletView, 'block'>,
  claimLimit: bigint,
): FailureCode | undefined {
  const { inputAmount } = swap.op
  if (!isDelegated(swap, delegation)) return 'INVALID_AUTHORIZATION'
  if (balance < inputAmount) return 'INPUT_UNAVAILABLE'
  // The input of a paid swap is due: a cap that is closed for an hour may reopen before the claim.
  return claimLimit < inputAmount && isUnlocked(swap.state) ? 'DESTINATION_UNAVAILABLE' : undefined
}

/** Delegated to us, or about to be by the swap's authorization. */
function isDelegated(swap: Swap, delegation: WalletView['delegation']): boolean {
  if (delegation.kind === 'ours') return true
  if (delegation.kind !== 'none' && delegation.kind !== 'older') return false
  return swap.delegation?.nonce === delegation.nonce
}
