import type { Block, LockRef } from './chain.ts'

/** A holder of funds that the service answers for: inputs in transit, and the operator's inventory. */
export type Custodian = 'escrow' | 'vault'

export type Paid = { token: string; amount: bigint }

/** A hard-final movement of money into, out of or between these holders. */
export type CustodyEvent = {
  txHash: string
  block: bigint
  /** The index of the event within its transaction. */
  part: number
} & (
  | ({ kind: 'locked' | 'claimed' | 'refunded'; op: string } & Partial<Paid>)
  | ({ kind: 'delivered'; delivery: string; amount: bigint } & Partial<Paid>)
  /** A payment out of the escrow was refused and credited instead. */
  | ({ kind: 'credited'; owner: 'vault' | 'wallet' } & Paid)
  | ({ kind: 'creditPaid'; to: 'vault' | 'treasury' | 'wallet' } & Paid)
  /** The treasury withdrew inventory. */
  | ({ kind: 'withdrawn' } & Paid)
  /** An unexplained movement. */
  | ({ kind: 'received' | 'left'; place: Custodian } & Paid)
  /** Fees, and rent that never returns, if the chain shows a transaction's cost to its payer. */
  | ({ kind: 'spent'; op?: string } & Paid)
  /** Rent of accounts that returns to its payer when they are closed. */
  | ({ kind: 'rentPaid' | 'rentReturned'; op?: string } & Paid)
)

export type Held = Paid & { place: Custodian }

/** The events up to `block`, and the balances at it; without balances while there is more to read. */
export type Custody = { block: bigint; events: CustodyEvent[]; balances?: Held[] }

/** A chain as the ledger reads it: agreed by a majority of its nodes, at hard-final blocks. */
export type CustodyChain = {
  chainId: number
  /**
   * Reads the events after a block; without a block, only the balances. `senders` are our sending keys from the
   * database: replaced keys are no longer configured. `inputs` are the ops of open swaps, for a chain on which each
   * input has an account of its own.
   */
  readCustody(
    after: bigint | undefined,
    hard: Block,
    senders?: readonly string[],
    inputs?: () => Promise<readonly LockRef[]>,
  ): Promise<Custody>
  /** Finds the amount of an unknown event of our keys in its transaction; undefined if that does not show it. */
  findPaid(event: CustodyEvent): Promise<Paid | undefined>
  /** Whether one of our own keys locked: anybody can lock an op of their own in the escrow. */
  isOurLock(txHash: string): Promise<boolean>
  /** The amount that a purchase took out of the vault; undefined if its transaction does not contain it. */
  findSold(txHash: string, token: string): Promise<bigint | undefined>
}
