/**
 * Where money can be, for one token of one chain. `locked`, `owed` and `spare` together are what the escrow or the
 * intake vault holds, `inventory` what the vault does. The rest is outside: it shows where money came from or went.
 */
export type LedgerAccount =
  /** Inputs of swaps. */
  | 'locked'
  /** Payments that a token refused: their owners withdraw them. */
  | 'owed'
  /** Beside the inputs of the swaps that are booked: what strangers sent, and what was there before the books. */
  | 'spare'
  | 'inventory'
  /** Wallets and recipients of swaps. */
  | 'wallet'
  /** Pools that outputs are bought from. */
  | 'market'
  | 'treasury'
  /** What fee payers hold, and what they paid to the chain. */
  | 'gas'
  | 'network'
  /** Deposits, and whoever sends something unasked. */
  | 'outside'
  /** What left and no swap of ours, no treasury and no rule explains. */
  | 'unexplained'

/** So much of a token went out of one account and into another: nothing else can be booked. */
export type Transfer = { token: string; amount: bigint; debit: LedgerAccount; credit: LedgerAccount }

/** What a difference between chain and books is worth believing: the part of it that every reading showed. */
export function steadyPart(readings: readonly bigint[]): bigint {
  const [first = 0n, ...rest] = readings
  if (readings.every((difference) => difference > 0n)) return rest.reduce((a, b) => (a < b ? a : b), first)
  if (readings.every((difference) => difference < 0n)) return rest.reduce((a, b) => (a > b ? a : b), first)
  return 0n
}
