import { ServiceError } from '../errors.ts'
import { BPS, largest, smallest } from './amount.ts'

/** Limits on the cost of gas without effect, in cents per hour. */
export type GasBudgets = { walletCents: number; accountCents: number; chainCents: number }

export const defaultGasBudgets: GasBudgets = { walletCents: 200, accountCents: 2_000, chainCents: 10_000 }

type Scope = 'wallet' | 'account' | 'chain'

/** Gas of this hour, in millionths of a US dollar, and whether a swap of the wallet has settled at this account. */
export type Wasted = Record<Scope, bigint> & { isKnown: boolean }

const E4 = 10_000n

/**
 * The budget that refuses more work. Strangers share those of account and chain: they stop only wallets that have not
 * settled a swap, or that wasted gas themselves, and on a chain only contract wallets, whose failures cost their owner
 * nothing. So nobody stops the wallets of others.
 */
export function findExceeded(budgets: GasBudgets, wasted: Wasted, isContract: boolean): Scope | undefined {
  const isOver = (scope: Scope) => wasted[scope] >= BigInt(budgets[`${scope}Cents`]) * E4
  if (isOver('wallet')) return 'wallet'
  if (wasted.isKnown && wasted.wallet === 0n) return undefined
  if (isOver('account')) return 'account'
  return isContract && isOver('chain') ? 'chain' : undefined
}

/** Swaps without a lock that may all waste their gas or rent, as of contract wallets; and the cost of one lock. */
export type AtRisk = { ofWallet: number; ofAccount: number; lockUsdE6: bigint | undefined }

/** Whether another such lock fits into the budgets beside those that are due. One always does. */
export function hasRoomForLock(budgets: GasBudgets, wasted: Wasted, atRisk: AtRisk): boolean {
  const { ofWallet, ofAccount, lockUsdE6 } = atRisk
  const fits = (scope: 'wallet' | 'account', open: number) =>
    open === 0 ||
    (lockUsdE6 !== undefined &&
      wasted[scope] + BigInt(open + 1) * lockUsdE6 <= BigInt(budgets[`${scope}Cents`]) * E4)
  return fits('wallet', ofWallet) && fits('account', ofAccount)
}

const WHOSE = { wallet: 'this wallet', account: 'wallets of this account', chain: 'contract wallets' }

/** Budgets begin anew with each hour. */
export function gasWasted(scope: Scope, retryAfterMs: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `Transactions for ${WHOSE[scope]} had no effect and cost too much gas. Try again in the next hour.`,
    details: { budget: 'wastedGas', scope },
    recovery: { retryAfterMs },
  })
}

export function locksPending(): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: 'Earlier swaps of this wallet or account are not locked yet. Try again when they are.',
    details: { budget: 'wastedGas', scope: 'pending' },
    recovery: { retryAfterMs: 5_000 },
  })
}

/** How much of a token may be reserved before the inputs are locked: nothing was paid for it yet. */
export type ReservationShares = { walletBps: number; accountBps: number }

export const defaultReservations: ReservationShares = { walletBps: 2_500, accountBps: 5_000 }

// An account whose locks all failed keeps this part of its share.
const LEAST = 10n
// Failures of an account with few swaps weigh as if it had this many.
const FEW_SWAPS = 10

/** The reservations of a token, one of which is new. */
export type Reserved = {
  held: bigint
  reserved: bigint
  /** Of swaps without a lock: those of the wallet at this account, and all of the account. The new one counts. */
  ofWallet: bigint
  ofAccount: bigint
  /** The account's last swaps that were paid, refunded or lacked their input, and how many lacked it. */
  ended: number
  failed: number
}

export const shareOfLeft = ({ walletBps }: ReservationShares, left: bigint): bigint =>
  (largest(left, 0n) * BigInt(walletBps)) / BPS

/** Whether a reservation is within the shares whoever made the others. */
export function isSmall(shares: ReservationShares, { held, reserved }: Pick<Reserved, 'held' | 'reserved'>) {
  return reserved * BPS * LEAST <= held * BigInt(Math.min(shares.walletBps, shares.accountBps))
}

/** The room that a new reservation leaves; negative if it is too large. */
export function roomAfter(shares: ReservationShares, seen: Reserved): bigint {
  const { ofWallet, ofAccount, ended, failed } = seen
  const trust = largest(BPS - (BigInt(failed) * BPS) / BigInt(Math.max(ended, FEW_SWAPS)), BPS / LEAST)
  return smallest(
    partOf(seen, ofWallet, BigInt(shares.walletBps)) - ofWallet,
    partOf(seen, ofAccount, (BigInt(shares.accountBps) * trust) / BPS) - ofAccount,
  )
}

/** A part of what would be left without these reservations. */
function partOf({ held, reserved }: Reserved, own: bigint, bps: bigint): bigint {
  return (largest(held - reserved + own, 0n) * bps) / BPS
}
