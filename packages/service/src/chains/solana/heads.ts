import type { SolanaClient, SolanaClients } from './client.ts'

/**
 * A block at one commitment; `height` counts blocks, not slots. `seconds` is the chain's own clock at `timedSlot`, at
 * most a second earlier. Views of earlier versions do not have it.
 */
type SolanaHead = { slot: bigint; height: bigint; seconds: number; timedSlot?: bigint }
export type Depth = 'confirmed' | 'finalized'
export type SolanaHeads = Record<Depth, SolanaHead>

// A block is final 32 slots behind the newest one; the final one is read again after some more.
const FINAL_SLOTS = 40n
// Times are whole seconds, and a slot takes 0.4: the time is not read for each.
const TIMED_SLOTS = 3n

/**
 * The newest block of each commitment; the final one may be some slots older. Needs one call while nothing is new, and
 * then returns the given heads. A head never moves back, even if a lagging node answers. Ignores processed blocks,
 * which a fork may drop.
 */
export async function readHeads(client: SolanaClient, known?: SolanaHeads): Promise<SolanaHeads> {
  const confirmed = await readEpoch(client, 'confirmed')
  if (known && confirmed.slot <= known.confirmed.slot) return known
  const isFinalDue = !known || confirmed.slot - known.finalized.slot >= FINAL_SLOTS
  const finalized = isFinalDue ? await readEpoch(client, 'finalized') : known.finalized
  const [soft, hard] = await Promise.all([
    withTime(client, confirmed, known?.confirmed),
    withTime(client, finalized, known?.finalized),
  ])
  return { confirmed: soft, finalized: hard }
}

type Epoch = Pick<SolanaHead, 'slot' | 'height'>

async function readEpoch({ rpc }: SolanaClient, commitment: Depth): Promise<Epoch> {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment }).send()
  return { slot: absoluteSlot, height: blockHeight }
}

async function withTime({ rpc }: SolanaClient, epoch: Epoch, known?: SolanaHead): Promise<SolanaHead> {
  if (known && epoch.slot <= known.slot) return known
  if (known && epoch.slot < (known.timedSlot ?? 0n) + TIMED_SLOTS) return { ...known, ...epoch }
  const seconds = await rpc.getBlockTime(epoch.slot).send()
  if (seconds === null) throw new Error(`The node has no time for slot ${epoch.slot}`)
  return { ...epoch, seconds: Number(seconds), timedSlot: epoch.slot }
}

export type Lifetime = { blockhash: string; lastValidBlockHeight: bigint }

// A placeholder: the node inserts the newest blockhash when it simulates.
export const NO_LIFETIME: Lifetime = {
  blockhash: '11111111111111111111111111111111',
  lastValidBlockHeight: 0n,
}

// The runtime accepts a blockhash for this many blocks.
const LIFE_BLOCKS = 150n
/** How far the newest block may be ahead of the block that a majority has confirmed. */
export const AHEAD_BLOCKS = 32n

/**
 * A blockhash to sign with, confirmed: a newer one may belong to a fork that is dropped. Its lifetime decides when a
 * signed transaction is expired. With several nodes it is therefore not taken from one node, but set to a height that
 * no existing blockhash outlives.
 */
export async function readBlockhash({ rpc, nodes, agreed }: SolanaClients): Promise<Lifetime> {
  const latest = async () => (await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()).value
  if (nodes.length === 1) return latest()
  const [{ blockhash }, { height }] = await Promise.all([latest(), readEpoch(agreed, 'confirmed')])
  return { blockhash, lastValidBlockHeight: height + LIFE_BLOCKS + AHEAD_BLOCKS }
}

export async function readBlockHeight({ rpc }: SolanaClient): Promise<bigint> {
  return rpc.getBlockHeight({ commitment: 'confirmed' }).send()
}
