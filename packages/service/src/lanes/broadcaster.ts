import type { Pool } from 'pg'
import type { Chain, Refusal, Signed } from '../chains/chain.ts'
import { type Attempt, markRefused } from '../store/attempts.ts'
import { type IsClaimable, readWorths, type Worths } from './worth.ts'

type Options = {
  pool: Pool
  chain: Pick<Chain, 'broadcast'>
  isClaimable: IsClaimable
  onSendFault(error: unknown, txHash: string): void
  onRefused(refusal: Refusal, txHash: string): void
}

export type Broadcaster = ReturnType<typeof createBroadcaster>

// Durations are taken from a clock that nobody sets: the one on the wall may jump.
const REBROADCAST_MS = 2_000
const NEVER = Number.NEGATIVE_INFINITY

/** Hands bytes to the nodes. An error says nothing about whether they arrived; the chain will tell. */
export function createBroadcaster(options: Options) {
  const { pool, chain, onSendFault, onRefused } = options
  let sentAt = new Map<string, number>()
  const refusals = new Map<string, Refusal>()
  let isRefused = false

  const note = async (refusal: Refusal | undefined, txHash: string): Promise<void> => {
    const before = refusals.get(txHash)
    refusals.delete(txHash)
    if (!refusal) return
    refusals.set(txHash, refusal)
    if (refusal === before) return
    isRefused = true
    onRefused(refusal, txHash)
    await markRefused(pool, txHash, refusal)
  }
  const send = async ({ raw, txHash }: Signed): Promise<void> => {
    sentAt.set(txHash, performance.now())
    const refusal = await chain.broadcast(raw).catch((error) => onSendFault(error, txHash))
    await note(refusal ?? undefined, txHash)
  }
  return {
    send,
    /** What all nodes said when it was last offered to them. */
    refusalOf: ({ txHash }: Attempt): Refusal | undefined => refusals.get(txHash),
    isRefused: () => isRefused,
    /**
     * Offers again what no block includes; forgets everything else. A chain that stood still may take bytes that were
     * signed long ago: what must not happen any more is not offered. Says what that which was due is worth.
     */
    async repeat(unmined: readonly Attempt[]): Promise<Worths> {
      isRefused = false
      const dueSince = performance.now() - REBROADCAST_MS
      sentAt = new Map(unmined.map(({ txHash }) => [txHash, sentAt.get(txHash) ?? NEVER]))
      for (const txHash of refusals.keys()) if (!sentAt.has(txHash)) refusals.delete(txHash)
      const due = unmined.filter(({ txHash }) => (sentAt.get(txHash) ?? NEVER) < dueSince)
      const worths = await readWorths(options, due)
      const isRight = ({ id }: Attempt) => (worths.get(id) ?? 'nothing') !== 'nothing'
      await Promise.all(due.filter(isRight).map(send))
      return worths
    },
  }
}
