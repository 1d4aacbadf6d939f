import type { Block } from './chain.ts'

/** Where a chain keeps what the service answers for: inputs in transit, and the operator's inventory. */
export type Place = 'escrow' | 'vault'

export type Paid = { token: string; amount: bigint }

/** Something that moved money into, out of or between those places, in a transaction that is hard-final. */
export type CustodyEvent = {
  txHash: string
  block: bigint
  /** Which event of its transaction. */
  part: number
} & (
  | ({ kind: 'locked' | 'claimed' | 'refunded'; op: string } & Partial<Paid>)
  | ({ kind: 'delivered'; delivery: string; amount: bigint } & Partial<Paid>)
  /** A payment out of the escrow was refused and is owed instead. */
  | ({ kind: 'credited'; owner: 'vault' | 'wallet' } & Paid)
  | ({ kind: 'creditPaid'; to: 'vault' | 'treasury' | 'wallet' } & Paid)
  /** The treasury took inventory out. */
  | ({ kind: 'withdrawn' } & Paid)
  /** What no rule of ours explains. */
  | ({ kind: 'received' | 'left'; place: Place } & Paid)
  /** Fees and rent, where the chain shows what a transaction cost its payer. */
  | ({ kind: 'spent'; op?: string } & Paid)
)

export type Held = Paid & { place: Place }

/** What happened up to `block`, and what is held right there; without balances while there is more to catch up on. */
export type Custody = { block: bigint; events: CustodyEvent[]; balances?: Held[] }

/** What the books need of a chain: said by a majority of its nodes, at hard-final blocks. */
export type CustodyChain = {
  chainId: number
  /**
   * What happened after a block. Without one: only what is held now. `senders` are the keys that sent for us, as the
   * database has them: one that was replaced is not in the configuration any more.
   */
  readCustody(after: bigint | undefined, hard: Block, senders?: readonly string[]): Promise<Custody>
  /** What an event that nobody here knows was about, from its transaction; undefined where that does not tell. */
  findPaid(event: CustodyEvent): Promise<Paid | undefined>
  /** Whether one of our own keys locked: anybody can lock an op of their own in the escrow. */
  isOurLock(txHash: string): Promise<boolean>
  /** What a purchase took out of the vault; undefined where its transaction does not tell. */
  findSold(txHash: string, token: string): Promise<bigint | undefined>
}
