import { landTransaction } from './execution.ts'
import type { Ledger } from './ledger.ts'
import type { WireTransaction } from './wire-transaction.ts'

type Held = { transaction: WireTransaction; slot: number }

/** Faults between the node that accepted a transaction and a block. */
export type Faults = {
  dropNext: number
  dropProbability: number
  /** A number from 0 up to, but not including, 1. */
  chance(): number
  delayNext: number
  delaySlots: number
  held: Held[]
}

export function createFaults(ledger: Ledger): Faults {
  const drops = { dropNext: 0, dropProbability: 0, chance: Math.random }
  const faults: Faults = { ...drops, delayNext: 0, delaySlots: 0, held: [] }
  ledger.listeners.add({
    onReached() {},
    onSlot(slot) {
      const due = faults.held.filter((held) => held.slot <= slot)
      if (due.length === 0) return
      faults.held = faults.held.filter((held) => held.slot > slot)
      for (const { transaction } of due) landTransaction(ledger, transaction)
    },
  })
  return faults
}

/** Forwards a transaction to the newest block: it lands now, later or never. */
export function forwardTransaction(ledger: Ledger, faults: Faults, transaction: WireTransaction): void {
  if (takesDrop(faults)) return
  if (faults.delayNext === 0) {
    // A node answers as soon as it has the bytes; the outcome shows in the blocks.
    setImmediate(() => landTransaction(ledger, transaction))
    return
  }
  faults.delayNext -= 1
  faults.held.push({ transaction, slot: ledger.slots.blocks.length - 1 + faults.delaySlots })
}

function takesDrop(faults: Faults): boolean {
  if (faults.dropNext === 0) return faults.chance() < faults.dropProbability
  faults.dropNext -= 1
  return true
}

/** Pseudorandom numbers, equal for equal seeds (mulberry32). */
export function chancesOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
