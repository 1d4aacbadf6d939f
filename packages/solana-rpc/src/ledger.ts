import type { Address } from '@solana/kit'
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
import type { Landed } from './landed.ts'
import { createRuntime, type Runtime } from './runtime.ts'
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

/** Transactions and account changes that have reached a commitment. */
export type Reached = {
  commitment: Commitment
  slot: number
  landed: readonly Landed[]
  changed: ReadonlySet<Address>
}
type LedgerListener = { onSlot(slot: number): void; onReached(reached: Reached): void }

/** The chain itself: blocks over time, and the state after their transactions. */
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
  const { slots, runtime, listeners } = ledger
  const before = COMMITMENTS.map((commitment) => slotAt(slots, commitment))
  const block = addBlock(slots)
  runtime.expireBlockhash()
  runtime.setSlot(block)
  for (const listener of listeners) listener.onSlot(block.slot)
  for (const [index, commitment] of COMMITMENTS.entries()) {
    const first = (before[index] ?? block.slot) + 1
    for (let slot = first; slot <= slotAt(slots, commitment); slot += 1) reach(ledger, { commitment, slot })
  }
}

/** One slot at a time, unless finality was halted. */
function reach(ledger: Ledger, { commitment, slot }: Pick<Reached, 'commitment' | 'slot'>): void {
  const { slots, accounts } = ledger
  const changed = accounts.changedIn.get(slot)
  if (!changed) return
  const landed = slots.blocks[slot]?.transactions ?? []
  if (slot !== currentSlot(slots)) emitReached(ledger, { commitment, slot, landed, changed })
  if (commitment === 'finalized') finalizeChanges(accounts, slot)
}

/** Makes the slots of this time span at once, each with its own time; older ones become final. */
export function advanceTime(ledger: Ledger, time: { seconds: number; slotMs: number }): void {
  const { slots } = ledger
  const endsAheadMs = slots.aheadMs + time.seconds * 1000
  while (slots.aheadMs < endsAheadMs) {
    slots.aheadMs = Math.min(slots.aheadMs + time.slotMs, endsAheadMs)
    advanceSlot(ledger)
  }
}

/** Writes an account without the rules of the runtime, as part of the newest block. */
export function setAccount(ledger: Ledger, address: Address, account: Account): void {
  const before = findNewest(ledger.accounts, address)
  putNewest(ledger.accounts, address, account)
  recordChange(ledger.accounts, { address, slot: currentSlot(ledger.slots), before })
  noteNewest(ledger, { landed: [], changed: new Set([address]) })
}

/** Notifies listeners of changes in the newest block, at every commitment without a lag. */
export function noteNewest(ledger: Ledger, change: Pick<Reached, 'landed' | 'changed'>): void {
  const slot = currentSlot(ledger.slots)
  for (const commitment of COMMITMENTS) {
    if (ledger.slots.lags[commitment] === 0) emitReached(ledger, { commitment, slot, ...change })
  }
}

function emitReached(ledger: Ledger, reached: Reached): void {
  for (const listener of ledger.listeners) listener.onReached(reached)
}
