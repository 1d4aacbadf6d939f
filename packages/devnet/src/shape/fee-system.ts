import type { Hex } from 'viem'
import type { Ask, Rule } from './call.ts'
import type { L1Cost } from './pool-rules.ts'
import type { Pooled } from './pool-view.ts'
import type { SignedTransaction } from './signed-transaction.ts'

/** How the transactions of a chain pay for their bytes on L1. */
export type Fees = {
  /** Runs once, before the first client. */
  start(): Promise<void>
  /** Answers the chain's own fee methods, and adds the L1 part to the node's answers. */
  rule: Rule
  l1CostOf(tx: SignedTransaction): Promise<L1Cost>
  /** The L1 fee of a pooled transaction. */
  l1WeiOf(pooled: Pooled): bigint
  /** The pool's entry with the client's own hash and fees. */
  asSigned(pooled: Pooled): Pooled
  /** Passes an admitted transaction to the node. */
  submit(tx: SignedTransaction, cost: L1Cost): Promise<Hex>
  /** Charges the senders of a block for the L1 part. */
  settle(hashes: readonly Hex[]): Promise<void>
  /** Called when the L1 price has changed. */
  reprice(): Promise<void>
  /** Converts a notification for the client. */
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

/** Deducts wei from accounts: the only way to charge for something that the underlying node does not know. */
export async function charge(ask: Ask, owed: ReadonlyMap<string, bigint>): Promise<void> {
  for (const [account, wei] of owed) {
    const balance = BigInt(await ask<string>('eth_getBalance', account, 'latest'))
    // The pool admits only transactions that can pay. Only a delegated account can have spent the rest since.
    const left = balance > wei ? balance - wei : 0n
    await ask('hardhat_setBalance', account, `0x${left.toString(16)}`)
  }
}
