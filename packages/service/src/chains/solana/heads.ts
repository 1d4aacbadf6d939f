import type { Block, Heads } from '../chain.ts'
import type { SolanaClient, SolanaClients } from './client.ts'

export type Lifetime = { blockhash: string; lastValidBlockHeight: bigint }

/**
 * A block at one commitment; `height` counts blocks, not slots. `seconds` is the chain's own clock at `timedSlot`, at
 * most a second earlier, on an idle chain some more. `lifetime` belongs to the newest confirmed block. Views of earlier
 * versions have neither.
 */
type SolanaHead = { slot: bigint; height: bigint; seconds: number; timedSlot?: bigint; lifetime?: Lifetime }
export type Depth = 'confirmed' | 'finalized'
type SolanaHeads = Record<Depth, SolanaHead>

// A block is final 32 slots behind the newest one; the final one is read again after some more.
const FINAL_SLOTS = 40n
// Times are whole seconds, and a slot takes 0.4: the time is not read for each.
const TIMED_SLOTS = 3n
// While the chain is idle: with every second final block.
const IDLE_TIMED_SLOTS = 16n

/**
 * The newest block of each commitment; the final one may be some slots older. Needs one call while nothing is new, and
 * then returns the given heads. A head never moves back, even if a lagging node answers. Ignores processed blocks,
 * which a fork may drop.
 */
export async function readHeads(
  client: SolanaClient,
  known?: SolanaHeads,
  isIdle = false,
): Promise<SolanaHeads> {
  const confirmed = await readLatest(client)
  if (known && confirmed.slot <= known.confirmed.slot) return known
  const isFinalDue = !known || confirmed.slot - known.finalized.slot >= FINAL_SLOTS
  const finalized = isFinalDue ? await readFinal(client) : known.finalized
  // Both times or none: their difference tells how long finality takes.
  if (isIdle && known && !(isFinalDue && isOlder(known.confirmed, confirmed, IDLE_TIMED_SLOTS)))
    return { confirmed: moved(known.confirmed, confirmed), finalized: moved(known.finalized, finalized) }
  const [soft, hard] = await Promise.all([
    withTime(client, confirmed, known?.confirmed),
    withTime(client, finalized, known?.finalized),
  ])
  return { confirmed: soft, finalized: hard }
}

type Untimed = Omit<SolanaHead, 'seconds' | 'timedSlot'>

/** Proofs use this height: it is the node's own figure. */
async function readFinal({ rpc }: SolanaClient): Promise<Untimed> {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: 'finalized' }).send()
  return { slot: absoluteSlot, height: blockHeight }
}

async function withTime({ rpc }: SolanaClient, head: Untimed, known?: SolanaHead): Promise<SolanaHead> {
  if (known && (head.slot < known.slot || !isOlder(known, head, TIMED_SLOTS))) return moved(known, head)
  const seconds = await rpc.getBlockTime(head.slot).send()
  if (seconds === null) throw new Error(`The node has no time for slot ${head.slot}`)
  return { ...head, seconds: Number(seconds), timedSlot: head.slot }
}

const isOlder = (known: SolanaHead, { slot }: Untimed, slots: bigint) =>
  slot >= (known.timedSlot ?? known.slot) + slots

/** The head with the time of the known one. */
const moved = (known: SolanaHead, head: Untimed): SolanaHead =>
  head.slot > known.slot ? { ...known, ...head } : known

// A placeholder: the node inserts the newest blockhash when it simulates.
export const NO_LIFETIME: Lifetime = {
  blockhash: '11111111111111111111111111111111',
  lastValidBlockHeight: 0n,
}

/** The runtime accepts a blockhash for this many blocks. */
export const LIFE_BLOCKS = 150n
/** How far the newest block may be ahead of the block that a majority has confirmed. */
export const AHEAD_BLOCKS = 32n

/**
 * The newest confirmed block with its blockhash, in one call. A newer blockhash may belong to a fork that is dropped.
 * Its lifetime decides when a signed transaction is expired. With several nodes it is therefore not taken from one
 * node, but set to a height that no existing blockhash outlives.
 */
async function readLatest({ rpc, nodes }: SolanaClient): Promise<Untimed & { lifetime: Lifetime }> {
  const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const { blockhash, lastValidBlockHeight: last } = value
  const lastValidBlockHeight = nodes.length === 1 ? last : last + AHEAD_BLOCKS
  return { slot: context.slot, height: last - LIFE_BLOCKS, lifetime: { blockhash, lastValidBlockHeight } }
}

/** A blockhash to sign with. */
export async function readBlockhash({ agreed }: SolanaClients): Promise<Lifetime> {
  return (await readLatest(agreed)).lifetime
}

export async function readBlockHeight({ rpc }: SolanaClient): Promise<bigint> {
  return rpc.getBlockHeight({ commitment: 'confirmed' }).send()
}

/** A slot at a commitment: accounts are read at that commitment, from a node that has reached the slot. */
export type SolanaBlock = Block & { commitment: Depth }
type SolanaBlocks = Heads & { known: SolanaHeads }

/** `confirmed` is the soft head, `finalized` the final one. */
export async function readBlocks(
  client: SolanaClient,
  known?: Heads,
  isIdle?: boolean,
): Promise<SolanaBlocks> {
  const before = known as SolanaBlocks | undefined
  const heads = await readHeads(client, before?.known, isIdle)
  if (before && heads === before.known) return before
  const head = toBlock(heads, 'confirmed')
  return { head, settle: head, hard: toBlock(heads, 'finalized'), known: heads }
}

/** The blockhash of the newest block; undefined in a view of an earlier version. */
export function lifetimeOf(heads: Heads): Lifetime | undefined {
  return (heads as SolanaBlocks).known?.confirmed.lifetime
}

function toBlock(heads: SolanaHeads, commitment: Depth): SolanaBlock {
  const { slot, height, seconds } = heads[commitment]
  return { number: slot, height, hash: `${commitment} ${slot}`, seconds, commitment }
}

export type Blockhashes = {
  /** Notes the blockhash of a head that this process has just read. */
  note(lifetime: Lifetime | undefined): void
  /** A blockhash to sign with, some blocks old: of the last head, or from a node if this process reads no heads. */
  recent(): Promise<Lifetime>
}

// Five of the 150 blocks for which a blockhash is valid.
const RECENT_MS = 2_000

export function createBlockhashes(client: SolanaClients, now = () => performance.now()): Blockhashes {
  let known: { at: number; lifetime: Promise<Lifetime> } | undefined
  const keep = (lifetime: Promise<Lifetime>) => {
    const mine = { at: now(), lifetime }
    known = mine
    lifetime.catch(() => {
      if (known === mine) known = undefined
    })
    return lifetime
  }
  return {
    note(lifetime) {
      if (lifetime) void keep(Promise.resolve(lifetime))
    },
    recent: () => (known && now() - known.at < RECENT_MS ? known.lifetime : keep(readBlockhash(client))),
  }
}
