import { largest, smallest } from './amount.ts'

/**
 * Accounts for one token on one chain. `locked`, `owed` and `spare` add up to the balance of the escrow;
 * `inventory` is the balance of the vault. The other accounts are external: sources and destinations of money.
 */
export type LedgerAccount =
  /** Inputs of swaps. */
  | 'locked'
  /** Payments that a token contract refused; their owners can withdraw them. */
  | 'owed'
  /** Escrow balance beyond booked inputs: unsolicited transfers, and balances from before the books. */
  | 'spare'
  | 'inventory'
  /** Wallets and recipients of swaps. */
  | 'wallet'
  /** Pools from which outputs are bought. */
  | 'market'
  | 'treasury'
  /** `gas`: balances of fee payers. `network`: fees they paid to the chain. `rent`: what accounts return to them. */
  | 'gas'
  | 'network'
  | 'rent'
  /** Deposits and unsolicited transfers. */
  | 'outside'
  /** Outflows that no swap, treasury withdrawal or rule explains. */
  | 'unexplained'

/** A double-entry booking: moves an amount of a token from one account to another. */
export type Transfer = { token: string; amount: bigint; debit: LedgerAccount; credit: LedgerAccount }

/** The part of a difference between chain and books that every reading showed, above or below zero. */
export function steadyPart(readings: readonly bigint[]): bigint {
  return largest(smallest(...readings), 0n) + smallest(largest(...readings), 0n)
}
