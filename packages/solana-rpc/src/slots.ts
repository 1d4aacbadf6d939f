import { createHash, randomBytes } from 'node:crypto'
import { getBase58Decoder } from '@solana/kit'

export type Commitment = 'processed' | 'confirmed' | 'finalized'
export const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized']

export type Block<Transaction> = {
  slot: number
  blockhash: string
  timeSeconds: number
  transactions: Transaction[]
}
/** The chain of blocks: one per slot, so block height equals slot. */
export type Slots<Transaction> = {
  genesis: Uint8Array
  lags: Readonly<Record<Commitment, number>>
  /** How far a test has moved the chain's clock ahead of the machine's. */
  aheadMs: number
  /** The slot at which a test has halted finality. */
  finalityHaltedAt?: number | undefined
  blocks: Block<Transaction>[]
  slotOfBlockhash: Map<string, number>
}
type BlockhashLifetime = { blockhash: string; lastValidBlockHeight: number }

// MAX_PROCESSING_AGE of the Agave runtime: a blockhash is accepted for this many blocks after its own.
export const BLOCKHASH_LIFE_BLOCKS = 150

/** Starts with enough empty blocks for a finalized one to exist from the first request. */
export function createSlots<T>(options: { confirmedLag: number; finalizedLag: number }): Slots<T> {
  const slots: Slots<T> = {
    // Random, so that a transaction signed for one run can never land in another.
    genesis: Uint8Array.from(randomBytes(32)),
    lags: { processed: 0, confirmed: options.confirmedLag, finalized: options.finalizedLag },
    aheadMs: 0,
    blocks: [],
    slotOfBlockhash: new Map(),
  }
  while (slots.blocks.length <= options.finalizedLag) addBlock(slots)
  return slots
}

export function addBlock<T>(slots: Slots<T>): Block<T> {
  const { blocks, lags, slotOfBlockhash } = slots
  const slot = blocks.length
  const digest = createHash('sha256').update(slots.genesis).update(`${slot}`).digest()
  const timeSeconds = Math.floor((Date.now() + slots.aheadMs) / 1000)
  const block: Block<T> = {
    slot,
    blockhash: getBase58Decoder().decode(digest),
    timeSeconds,
    transactions: [],
  }
  blocks.push(block)
  slotOfBlockhash.set(block.blockhash, slot)
  const forgotten = blocks[slot - lags.finalized - BLOCKHASH_LIFE_BLOCKS - 1]
  if (forgotten) slotOfBlockhash.delete(forgotten.blockhash)
  return block
}

export function currentSlot(slots: Slots<unknown>): number {
  return slots.blocks.length - 1
}

/** The newest slot that has reached this commitment. */
export function slotAt(slots: Slots<unknown>, commitment: Commitment): number {
  const reached = Math.max(0, currentSlot(slots) - slots.lags[commitment])
  const { finalityHaltedAt = reached } = slots
  return commitment === 'finalized' ? Math.min(reached, finalityHaltedAt) : reached
}

export function commitmentOf(slots: Slots<unknown>, slot: number): Commitment {
  if (slot <= slotAt(slots, 'finalized')) return 'finalized'
  return slot <= slotAt(slots, 'confirmed') ? 'confirmed' : 'processed'
}

export function getBlock<T>(slots: Slots<T>, slot: number): Block<T> {
  const block = slots.blocks[slot]
  if (!block) throw new Error(`No block at slot ${slot}`)
  return block
}

export function currentBlock<T>(slots: Slots<T>): Block<T> {
  return getBlock(slots, currentSlot(slots))
}

export function latestBlockhash(slots: Slots<unknown>, slot: number): BlockhashLifetime {
  const { blockhash } = getBlock(slots, slot)
  return { blockhash, lastValidBlockHeight: slot + BLOCKHASH_LIFE_BLOCKS }
}

/** Whether the bank of `slot` accepts this blockhash: it must be known and recent. */
export function isBlockhashValid(slots: Slots<unknown>, query: { blockhash: string; slot: number }): boolean {
  const born = slots.slotOfBlockhash.get(query.blockhash)
  return born !== undefined && born <= query.slot && query.slot <= born + BLOCKHASH_LIFE_BLOCKS
}
