import type { Hex } from 'viem'
import type { Ask, Rule } from './call.ts'
import type { L1Cost } from './pool-rules.ts'
import type { Pooled } from './pool-view.ts'
import type { SignedTransaction } from './signed-transaction.ts'

/** How transactions of a chain pay for their bytes on L1. */
export type Fees = {
  /** Runs once, before the first client. */
  start(): Promise<void>
  /** Answers of the chain's own fee methods, and the L1 part in the answers of the node. */
  rule: Rule
  l1CostOf(tx: SignedTransaction): Promise<L1Cost>
  /** The same of one that is in the pool. */
  l1WeiOf(pooled: Pooled): bigint
  /** The pool's entry in the words of the client: its own hash and fees. */
  asSigned(pooled: Pooled): Pooled
  /** Hands a transaction to the node that all rules admitted. */
  submit(tx: SignedTransaction, cost: L1Cost): Promise<Hex>
  /** Takes the L1 part from the senders of a block. */
  settle(hashes: readonly Hex[]): Promise<void>
  /** The price on L1 changed. */
  reprice(): Promise<void>
  /** A notification in the words of the client. */
  toClient(value: unknown): unknown
}

/** A chain that is its own L1. */
export function createOwnFees(ask: Ask): Fees {
  return {
    start: async () => {},
    rule: (call, next) => next(call),
    l1CostOf: async () => ({ gas: 0n, wei: 0n }),
    l1WeiOf: () => 0n,
    asSigned: (pooled) => pooled,
    submit: (tx) => ask<Hex>('eth_sendRawTransaction', tx.raw),
    settle: async () => {},
    reprice: async () => {},
    toClient: (value) => value,
  }
}

/** Takes wei from accounts: the one way to charge for something that the node beneath does not know. */
export async function charge(ask: Ask, owed: ReadonlyMap<string, bigint>): Promise<void> {
  for (const [account, wei] of owed) {
    const balance = BigInt(await ask<string>('eth_getBalance', account, 'latest'))
    // The pool admits no transaction that cannot pay. Only a delegated account can have spent the rest since.
    const left = balance > wei ? balance - wei : 0n
    await ask('hardhat_setBalance', account, `0x${left.toString(16)}`)
  }
}
