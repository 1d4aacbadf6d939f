import type { Address } from '@solana/kit'
import type { AccountKey } from './account-keys.ts'
import {
  type Account,
  type AccountStore,
  createAccountStore,
  finalizeChanges,
  findNewest,
  putNewest,
  recordChange,
} from './account-store.ts'
import { createHistory, type History } from './history.ts'
import { createRuntime, type Outcome, type Runtime } from './runtime.ts'
import {
  addBlock,
  COMMITMENTS,
  type Commitment,
  createSlots,
  currentBlock,
  currentSlot,
  type Slots,
  slotAt,
} from './slots.ts'
import type { TokenBalance } from './token-balances.ts'
import type { WireTransaction } from './wire-transaction.ts'

export type Landed = Outcome & {
  transaction: WireTransaction
  slot: number
  timeSeconds: number
  keys: AccountKey[]
  fee: bigint
  preBalances: bigint[]
  postBalances: bigint[]
  preTokenBalances: TokenBalance[]
  postTokenBalances: TokenBalance[]
}
/** What became true at a commitment: these transactions and account changes are now part of it. */
export type Reached = {
  commitment: Commitment
  slot: number
  landed: readonly Landed[]
  changed: ReadonlySet<Address>
}
export type LedgerListener = { onSlot(slot: number): void; onReached(reached: Reached): void }

/** The chain itself: blocks over time, and the state that the transactions in them have made. */
export type Ledger = {
  slots: Slots<Landed>
  runtime: Runtime
  accounts: AccountStore
  history: History
  listeners: Set<LedgerListener>
}

export function createLedger(options: { confirmedLag: number; finalizedLag: number }): Ledger {
  const slots = createSlots<Landed>(options)
  const runtime = createRuntime()
  runtime.setSlot(currentBlock(slots))
  const accounts = createAccountStore(runtime.svm)
  return { slots, runtime, accounts, history: createHistory(), listeners: new Set() }
}

/** Closes the newest block and opens the next; older ones become confirmed and finalized. */
export function advanceSlot(ledger: Ledger): void {
  const { slots, runtime, accounts, listeners } = ledger
  const block = addBlock(slots)
  runtime.expireBlockhash()
  runtime.setSlot(block)
  for (const listener of listeners) listener.onSlot(block.slot)
  for (const commitment of COMMITMENTS) {
    const slot = currentSlot(slots) - slots.lags[commitment]
    const changed = accounts.changedIn.get(slot)
    if (slot === block.slot || !changed) continue
    emitReached(ledger, { commitment, slot, landed: slots.blocks[slot]?.transactions ?? [], changed })
  }
  finalizeChanges(accounts, slotAt(slots, 'finalized'))
}

/** Writes an account past all rules of the runtime, as part of the newest block. */
export function setAccount(ledger: Ledger, address: Address, account: Account): void {
  const before = findNewest(ledger.accounts, address)
  putNewest(ledger.accounts, address, account)
  recordChange(ledger.accounts, { address, slot: currentSlot(ledger.slots), before })
  noteNewest(ledger, { landed: [], changed: new Set([address]) })
}

/** Tells listeners of changes in the newest block, at every commitment that does not lag behind it. */
export function noteNewest(ledger: Ledger, change: Pick<Reached, 'landed' | 'changed'>): void {
  const slot = currentSlot(ledger.slots)
  for (const commitment of COMMITMENTS) {
    if (ledger.slots.lags[commitment] === 0) emitReached(ledger, { commitment, slot, ...change })
  }
}

function emitReached(ledger: Ledger, reached: Reached): void {
  for (const listener of ledger.listeners) listener.onReached(reached)
}
