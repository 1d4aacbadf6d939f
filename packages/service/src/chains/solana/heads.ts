import type { Commitment } from '@solana/kit'
import type { SolanaClient } from './client.ts'

/** A block as of one commitment. `seconds` is the chain's own clock; `height` counts blocks, not slots. */
export type SolanaHead = { slot: bigint; height: bigint; seconds: number }
export type SolanaHeads = Record<Commitment, SolanaHead>

/**
 * The newest block of each commitment. One call while nothing is new: then the heads given come back as they
 * are. A head never goes back, also when the node that answers lags behind the one before it.
 */
export async function readHeads(client: SolanaClient, known?: SolanaHeads): Promise<SolanaHeads> {
  const processed = await readEpoch(client, 'processed')
  if (known && processed.slot <= known.processed.slot) return known
  const [confirmed, finalized] = await Promise.all([
    readEpoch(client, 'confirmed'),
    readEpoch(client, 'finalized'),
  ])
  const [newest, settled, hard] = await Promise.all([
    withTime(client, processed, known?.processed),
    withTime(client, confirmed, known?.confirmed),
    withTime(client, finalized, known?.finalized),
  ])
  return { processed: newest, confirmed: settled, finalized: hard }
}

type Epoch = Omit<SolanaHead, 'seconds'>

async function readEpoch({ rpc }: SolanaClient, commitment: Commitment): Promise<Epoch> {
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

/** A blockhash to sign with. Confirmed: a newer one might be of a fork that dies, and the signature with it. */
export async function readBlockhash({ rpc }: SolanaClient): Promise<Lifetime> {
  const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  return { blockhash: value.blockhash, lastValidBlockHeight: value.lastValidBlockHeight }
}
