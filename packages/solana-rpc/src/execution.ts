import { type AccountKey, resolveKeys } from './account-keys.ts'
import {
  type Account,
  findAt,
  findNewest,
  hasChangedAfter,
  putNewest,
  recordChange,
} from './account-store.ts'
import type { Landed } from './landed.ts'
import { type Ledger, noteNewest } from './ledger.ts'
import { isNonceValid } from './nonce.ts'
import type { Simulated } from './runtime.ts'
import { currentBlock, currentSlot, getBlock, isBlockhashValid } from './slots.ts'
import { readTokenBalances } from './token-balances.ts'
import type { WireTransaction } from './wire-transaction.ts'

type Snapshot = { accounts: (Account | undefined)[]; balances: bigint[] }

const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111'

/** Why the bank of `slot` would refuse this transaction before executing it. */
export function findRefusal(ledger: Ledger, query: { transaction: WireTransaction; slot: number }) {
  const { transaction, slot } = query
  const { message } = transaction
  const isRecent = isBlockhashValid(ledger.slots, { blockhash: message.blockhash, slot })
  if (!isRecent && !isNonceValid(ledger, { message, slot })) return 'BlockhashNotFound'
  return ledger.history.isKnown(transaction, slot) ? 'AlreadyProcessed' : undefined
}

/** Executes in the newest block. Undefined if the transaction cannot land: then nothing changed. */
export function landTransaction(ledger: Ledger, transaction: WireTransaction): Landed | undefined {
  const { accounts, history, runtime, slots } = ledger
  if (!transaction.isFullySigned) return undefined
  if (findRefusal(ledger, { transaction, slot: currentSlot(slots) })) return undefined
  const keys = keysOf(ledger, transaction)
  if (keys.some((key) => key.address === LOOKUP_TABLE_PROGRAM)) runtime.setRecentSlots(slots.blocks)
  const before = snapshot(ledger, transaction, keys)
  const outcome = runtime.execute(transaction)
  const after = snapshot(ledger, transaction, keys)
  // Lamports only move between these accounts, so the difference was paid as fee. No fee means that it did
  // not land.
  const fee = sum(before.balances) - sum(after.balances)
  if (fee <= 0n) return undefined

  const { slot, timeSeconds, transactions } = currentBlock(slots)
  const landed: Landed = {
    ...outcome,
    transaction,
    slot,
    timeSeconds,
    keys,
    fee,
    preBalances: before.balances,
    postBalances: after.balances,
    preTokenBalances: readTokenBalances(before.accounts, (mint) => findNewest(accounts, mint)),
    postTokenBalances: readTokenBalances(after.accounts, (mint) => findNewest(accounts, mint)),
  }
  for (const [index, { address, writable }] of keys.entries()) {
    if (writable) recordChange(accounts, { address, slot, before: before.accounts[index] })
  }
  transactions.push(landed)
  history.add(landed)
  noteNewest(ledger, {
    landed: [landed],
    changed: new Set(keys.filter(isWritable).map((key) => key.address)),
  })
  return landed
}

/** Runs against the state of `slot` and changes nothing. */
export function simulateAt(
  ledger: Ledger,
  query: { transaction: WireTransaction; slot: number; verify: boolean },
): Simulated {
  const { accounts, runtime, slots } = ledger
  const { transaction, slot, verify } = query
  const moved = keysOf(ledger, transaction)
    .filter(({ address }) => hasChangedAfter(accounts, { address, slot }))
    .map(({ address }) => ({ address, newest: findNewest(accounts, address) }))
  try {
    for (const { address } of moved) putNewest(accounts, address, findAt(accounts, { address, slot }))
    runtime.setSlot(getBlock(slots, slot))
    return runtime.simulate(transaction, { verify })
  } finally {
    for (const { address, newest } of moved) putNewest(accounts, address, newest)
    runtime.setSlot(currentBlock(slots))
  }
}

export function keysOf(ledger: Ledger, transaction: Pick<WireTransaction, 'message'>): AccountKey[] {
  return resolveKeys(transaction.message, (table) => findNewest(ledger.accounts, table)?.data)
}

// Invoked programs are omitted: they are large, and no transaction changes them.
function snapshot(ledger: Ledger, transaction: WireTransaction, keys: AccountKey[]): Snapshot {
  const invoked = new Set(transaction.message.instructions.map((instruction) => instruction.programIndex))
  const held = keys.map(({ address }, index) =>
    invoked.has(index) ? undefined : findNewest(ledger.accounts, address),
  )
  const balances = keys.map(({ address }, index) => {
    if (!invoked.has(index)) return held[index]?.lamports ?? 0n
    return ledger.runtime.svm.getBalance(address) ?? 0n
  })
  return { accounts: held, balances }
}

function isWritable(key: AccountKey): boolean {
  return key.writable
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}
