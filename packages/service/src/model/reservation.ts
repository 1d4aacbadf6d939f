import { BPS, largest, smallest } from './amount.ts'

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
  /** The account's last swaps that ended, and those of them whose input could not be taken. */
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
