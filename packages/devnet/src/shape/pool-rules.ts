import { refuse } from './call.ts'
import type { EvmShape } from './evm-shape.ts'
import { intrinsicGas } from './intrinsic-gas.ts'
import type { Pooled, SenderView } from './pool-view.ts'
import { costOf, type Delegation, type SignedTransaction } from './signed-transaction.ts'

// The rules of go-ethereum's pool, in its own wording and order: core/txpool/validation.go,
// core/txpool/errors.go, core/txpool/legacypool/legacypool.go (validateTx, checkDelegationLimit,
// validateAuth) and list.go (Add).

const MAX_BYTES = 4 * 32 * 1024

/** The part of a transaction's cost that depends on its bytes on L1. */
export type L1Cost = { gas: bigint; wei: bigint }

/** Rules that need no state. */
export function checkBasics(
  tx: SignedTransaction,
  given: { pool: EvmShape['pool']; blockGasLimit: bigint; l1Gas: bigint },
): void {
  if (tx.bytes > MAX_BYTES) refuse(`oversized data: transaction size ${tx.bytes}, limit ${MAX_BYTES}`)
  if (given.blockGasLimit < tx.gas) refuse('exceeds block gas limit')
  if (tx.feeCap < tx.tip) refuse('max priority fee per gas higher than max fee per gas')
  const { intrinsic, floor } = intrinsicGas(tx)
  const least = intrinsic + given.l1Gas
  if (tx.gas < least) refuse(`intrinsic gas too low: gas ${tx.gas}, minimum needed ${least}`)
  const leastForData = floor + given.l1Gas
  if (tx.gas < leastForData) {
    refuse(`insufficient gas for floor data gas cost: gas ${tx.gas}, minimum needed ${leastForData}`)
  }
  const { minTipWei, minTipRefusal } = given.pool
  if (tx.tip < minTipWei) refuse(`${minTipRefusal}: gas tip cap ${tx.tip}, minimum needed ${minTipWei}`)
  if (tx.type === '0x4' && tx.authorizations.length === 0) {
    refuse('set code tx must have at least one authorization tuple')
  }
}

/** The nonce is unused, and the sender can pay for this transaction and all pending ones. */
export function checkState(
  tx: SignedTransaction,
  given: { sender: SenderView; balanceWei: bigint; l1Wei: bigint; pendingL1Wei: bigint },
): void {
  const { sender, balanceWei } = given
  if (sender.stateNonce > tx.nonce) {
    refuse(`nonce too low: next nonce ${sender.stateNonce}, tx nonce ${tx.nonce}`)
  }
  const cost = costOf(tx) + given.l1Wei
  if (balanceWei < cost) {
    insufficient(`balance ${balanceWei}, tx cost ${cost}, overshot ${cost - balanceWei}`)
  }
  const spent = sender.pending.reduce((sum, pooled) => sum + costOf(pooled), given.pendingL1Wei)
  const old = sender.pending.find(({ nonce }) => nonce === tx.nonce)
  const added = old ? cost - costOf(old) : cost
  const need = spent + added
  if (balanceWei < need) {
    const what = old ? `tx bumped ${added}` : `tx cost ${cost}`
    insufficient(`balance ${balanceWei}, queued cost ${spent}, ${what}, overshot ${need - balanceWei}`)
  }
}

/** A delegated account, or one with a pending delegation, may have one transaction in flight and no gap. */
export function checkDelegation(tx: SignedTransaction, sender: SenderView, isDelegated: boolean): void {
  if (!isDelegated) return
  if (sender.pending.length === 0) {
    if (tx.nonce !== sender.stateNonce) refuse('gapped-nonce tx from delegated accounts')
    return
  }
  if (sender.pending.some(({ nonce }) => nonce === tx.nonce)) return
  refuse('in-flight transaction limit reached for delegated accounts')
}

/** Refuses the transaction if one authority has two own transactions, pending or queued. */
export function checkAuthorities(delegations: readonly Delegation[], pool: readonly Pooled[]): void {
  const reserved = delegations.some(
    ({ authority }) => pool.filter(({ from }) => from === authority).length > 1,
  )
  if (reserved) refuse('authority already reserved')
}

/** Both fees must be higher by the price bump. */
export function checkReplacement(tx: SignedTransaction, old: Pooled | undefined, bumpPercent: bigint): void {
  if (!old) return
  const isHigher = (fee: bigint, before: bigint) =>
    fee > before && fee >= (before * (100n + bumpPercent)) / 100n
  if (isHigher(tx.feeCap, old.feeCap) && isHigher(tx.tip, old.tip)) return
  refuse('replacement transaction underpriced')
}

function insufficient(detail: string): never {
  return refuse(`insufficient funds for gas * price + value: ${detail}`)
}
