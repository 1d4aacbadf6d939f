import type { SolanaClient, SolanaClients } from './client.ts'

/** A block as of one commitment. `seconds` is the chain's own clock; `height` counts blocks, not slots. */
export type SolanaHead = { slot: bigint; height: bigint; seconds: number }
export type Depth = 'confirmed' | 'finalized'
export type SolanaHeads = Record<Depth, SolanaHead>

// A block is final 32 slots behind the newest one: the final one is asked for again when some more have become so.
const FINAL_SLOTS = 40n

/**
 * The newest block of each commitment; the final one may be some slots older. One call while nothing is new: then the
 * heads given come back as they are. A head never goes back, also when the node that answers lags behind the one
 * before it. What is only processed counts for nothing here: a fork may drop it.
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

type Epoch = Omit<SolanaHead, 'seconds'>

async function readEpoch({ rpc }: SolanaClient, commitment: Depth): Promise<Epoch> {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment }).send()
  return { slot: absoluteSlot, height: blockHeight }
}

async function withTime({ rpc }: SolanaClient, epoch: Epoch, known?: SolanaHead): Promise<SolanaHead> {
  if (known && epoch.slot <= known.slot) return known
  const seconds = await rpc.getBlockTime(epoch.slot).send()
  if (seconds === null) throw new Error(`The node does not know the time of slot ${epoch.slot}`)
  return { ...epoch, seconds: Number(seconds) }
}

export type Lifetime = { blockhash: string; lastValidBlockHeight: bigint }

// The runtime takes a blockhash for this many blocks.
const LIFE_BLOCKS = 150n
/** By which the newest block of all may be ahead of what a majority has confirmed. */
export const AHEAD_BLOCKS = 32n

/**
 * A blockhash to sign with. Confirmed: a newer one might be of a fork that dies, and the signature with it. How long
 * it lives decides when what was signed is dead, so where there are several nodes it is not the word of the one that
 * gave it, but what no blockhash that exists by now outlives.
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
