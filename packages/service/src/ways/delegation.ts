import { geoEscrowAbi } from '@geoswap/protocol'
import { encodeFunctionData, type Hex, parseSignature, signatureToCompactSignature } from 'viem'
import type { Delegation, WalletView } from '../chains/chain.ts'
import { DELEGATION, LOCK, LOCK_MANY, toEscrowOp } from '../chains/evm/plans.ts'
import { readWalletState, type WalletInput } from '../chains/evm/reads.ts'
import { isDelegationSigned, isHashSigned } from '../chains/evm/signatures.ts'
import type { ObstacleReads } from '../chains/evm/ways.ts'
import { ServiceError } from '../errors.ts'
import { type FailureCode, isUnlocked } from '../swap/lifecycle.ts'
import type { SignedDelegation, Swap } from '../swap/swap.ts'
import { type DelegationCheck, type EvmWay, isOthers } from './way.ts'

/** The wallet has our code by EIP-7702, and signs the hash of the op. */
export const delegation: EvmWay<'delegation'> = {
  name: 'delegation',
  signs: 'hash',
  payer: 'wallet',
  isBatched: true,
  isSimulated: false,
  takes: () => true,
  // Code of others is never replaced.
  canPay: (code) => !isOthers(code),
  usesAddress: false,
  getDelegation,
  toPayment: () => ({}),
  planLock({ escrow }, swaps) {
    const delegations = swaps.flatMap((swap) => swap.delegation ?? [])
    const [only] = swaps
    const isSingle = only !== undefined && swaps.length === 1
    return {
      to: escrow,
      data: isSingle ? encodeLock(only) : encodeLockMany(swaps),
      gas:
        (isSingle ? LOCK : LOCK_MANY.fixed + LOCK_MANY.each * swaps.length) + DELEGATION * delegations.length,
      ...(delegations.length > 0 && { authorizations: delegations }),
    }
  },
  opsIn(call) {
    if (call.functionName === 'lock') return [call.args[0]]
    return call.functionName === 'lockMany' ? call.args[0].map(({ op }) => op) : undefined
  },
  isSigned: async (_reads, { wallet, hash }, signature) => isHashSigned(wallet, hash, signature),
  findObstacle,
}

function encodeLock(swap: Swap): Hex {
  const { r, vs } = toCompact(swap.signature)
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lock', args: [toEscrowOp(swap.op), r, vs] })
}

function encodeLockMany(swaps: readonly Swap[]): Hex {
  const ops = swaps.map((swap) => ({ op: toEscrowOp(swap.op), ...toCompact(swap.signature) }))
  return encodeFunctionData({ abi: geoEscrowAbi, functionName: 'lockMany', args: [ops] })
}

function toCompact(signature: string): { r: Hex; vs: Hex } {
  const { r, yParityAndS } = signatureToCompactSignature(parseSignature(signature as Hex))
  return { r, vs: yParityAndS }
}

async function findObstacle({ clients, settings, readClaimCap }: ObstacleReads, swap: Swap) {
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

/** Delegated to us, or about to be by the delegation that the swap carries. */
function isDelegated(swap: Swap, delegation: Delegation): boolean {
  if (delegation.kind === 'ours') return true
  if (delegation.kind !== 'none' && delegation.kind !== 'older') return false
  return swap.delegation?.nonce === delegation.nonce
}

/**
 * Returns the delegation that this operation has to carry: undefined if the wallet is already delegated to us.
 * Otherwise checks that the given one is for this chain, our delegate and the account's current nonce, and signed by
 * the wallet. Refuses a wallet with other code, which is never replaced.
 */
export async function getDelegation(
  check: DelegationCheck,
  state: Delegation,
  given: SignedDelegation | undefined,
): Promise<SignedDelegation | undefined> {
  if (state.kind === 'ours' || state.kind === 'unneeded') return undefined
  if (state.kind === 'foreign' || state.kind === 'contract')
    throw new ServiceError('UNSUPPORTED_DELEGATION', { recovery: { methods: check.others } })
  if (!given) throw needsDelegation(check, state)
  const isForUs = given.chainId === check.chainId && sameAddress(given.address, check.delegationTarget)
  if (!isForUs || !(await isDelegationSigned(check.wallet, given))) {
    throw new ServiceError('INVALID_AUTHORIZATION_SIGNATURE', { recovery: fieldsToSign(check, state) })
  }
  if (given.nonce !== state.nonce || state.pendingNonce !== state.nonce) throw staleDelegation(check, state)
  return { ...given, address: check.delegationTarget }
}

type Undelegated = Extract<Delegation, { kind: 'none' | 'older' }>

function fieldsToSign({ chainId, delegationTarget }: DelegationCheck, state: Undelegated) {
  return { chainId, delegationTarget, accountNonce: state.nonce }
}

function needsDelegation(check: DelegationCheck, state: Undelegated): ServiceError {
  const recovery = { ...fieldsToSign(check, state), methods: check.others }
  return new ServiceError('NEEDS_DELEGATION', { recovery })
}

function staleDelegation(check: DelegationCheck, state: Undelegated): ServiceError {
  const isPending = state.pendingNonce !== state.nonce
  return new ServiceError('INVALID_AUTHORIZATION', {
    ...(isPending && {
      message:
        'The wallet has a transaction of its own pending. Wait for it, sign a fresh authorization, rebuild.',
    }),
    recovery: fieldsToSign(check, state),
  })
}

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
