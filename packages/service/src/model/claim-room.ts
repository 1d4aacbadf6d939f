// GeoEscrow lets at most a cap of each token go to the vault per hour of its chain's clock (HourlyCapLib). The hour is
// a fixed window: floor(block time / 3600).
//
// Rule: the sum of a token's booked inputs never exceeds one hourly cap. An input is booked in the transaction that
// records its lock. It stays booked until it can no longer be claimed, or until the hour of its claim is over.
//
// Why that suffices: everything that is claimed in one hour is booked together at the end of that hour. So no hour is
// asked for more than its cap, in whichever order and batches claims are sent, and however close a refund deadline is.

export type ClaimBook = {
  /** Inputs that are locked or being locked, and not known to be claimed for good. */
  open: bigint
  /** Inputs that were claimed for good in `hour` at the latest. */
  claimed: bigint
  hour: number
}

export const EMPTY_BOOK: ClaimBook = { open: 0n, claimed: 0n, hour: 0 }

const HOUR_SECONDS = 3_600

/** The window of the cap that a time of the chain's clock is in. */
export const hourOf = (seconds: number): number => Math.floor(seconds / HOUR_SECONDS)

/** What is booked of the cap when the chain's clock shows this time. */
export function bookedAt({ open, claimed, hour }: ClaimBook, seconds: number): bigint {
  return hourOf(seconds) > hour ? open : open + claimed
}

/** What the cap has room for; an input that is booked already takes none. */
export function claimRoom(book: ClaimBook, cap: bigint, seconds: number): bigint {
  const left = cap - bookedAt(book, seconds)
  return left > 0n ? left : 0n
}

/**
 * The book after a claim became final. `bySeconds` is the time of a hard-final block that shows it: the claim is not
 * later, and every hour before that block's is over.
 */
export function withClaimed(book: ClaimBook, amount: bigint, bySeconds: number): ClaimBook {
  const hour = hourOf(bySeconds)
  const open = book.open - amount
  if (hour < book.hour) return { open, claimed: book.claimed, hour: book.hour }
  return { open, claimed: hour === book.hour ? book.claimed + amount : amount, hour }
}

/** No single input takes more than a quarter of an hour's cap: one swap does not keep all others out. */
export const largestShare = (cap: bigint): bigint => cap / 4n
