import { authorizationOf, permitOf, signedTokenAbi } from '@geoswap/protocol'
import { type Address, erc20Abi, getAddress, type Hex, type PublicClient, parseSignature } from 'viem'
import { type FailureCode, isUnlocked } from '../../swap/lifecycle.ts'
import { isOthers } from '../../swap/origin-methods.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import type { WalletView } from '../chain.ts'
import { attempt } from './attempt.ts'
import type { EvmClients } from './client.ts'
import { readCodeStart } from './gather.ts'
import { readBalance, readWalletState, type WalletInput } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'
import { toDelegation } from './signatures.ts'
import { strangeReads } from './strange-reads.ts'

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

type Settings = Pick<EvmChainSettings, 'escrow'>

// As much as a lock has for one input, and the cost of a call. It bounds the answer of a wallet, which a token may
// copy into its own: memory for half a megabyte costs more.
const GAS = 300_000n

/** Whether the token would pay the escrow by the swap's authorization, in a call that changes nothing. */
export async function takesAuthorization(
  client: PublicClient,
  settings: Settings,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const message = authorizationOf(settings, op.hash as Hex, paidBy(op))
  const { from, to, value, validAfter, validBefore, nonce } = message
  const call = {
    address: op.inputToken as Address,
    abi: signedTokenAbi,
    functionName: 'receiveWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature as Hex],
    account: settings.escrow,
    gas: GAS,
    blockNumber,
  } as const
  const { kind } = await attempt(client, () => client.simulateContract(call), blockNumber)
  return kind === 'ok'
}

/** Whether the token would accept the permit. Anyone may have used it first: then the allowance is there. */
export async function takesPermit(
  client: PublicClient,
  settings: Settings,
  { op, signature }: Swap,
  blockNumber: bigint,
): Promise<boolean> {
  const { owner, spender, value, deadline } = permitOf(settings, op.hash as Hex, {
    ...paidBy(op),
    nonce: op.permitNonce ?? 0n,
  })
  const token = { address: op.inputToken as Address, blockNumber } as const
  const allowance = { ...token, abi: erc20Abi, functionName: 'allowance', args: [owner, spender] } as const
  const allowed = await attempt(client, () => strangeReads(client).readContract(allowance), blockNumber)
  if (allowed.kind === 'ok' && allowed.result >= value) return true
  const { r, s, yParity } = parseSignature(signature as Hex)
  const call = {
    ...token,
    abi: signedTokenAbi,
    functionName: 'permit',
    account: settings.escrow,
    gas: GAS,
    args: [owner, spender, value, deadline, 27 + yParity, r, s],
  } as const
  const { kind } = await attempt(client, () => client.simulateContract(call), blockNumber)
  return kind === 'ok'
}

const paidBy = (op: Op) => ({
  wallet: op.wallet as Address,
  inputAmount: op.inputAmount,
  opDeadline: BigInt(op.opDeadline),
})
