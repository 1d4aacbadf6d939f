/** By EIP-5792: where a batch of calls stands that was given to a wallet. */
export type BatchState = 'pending' | 'confirmed' | 'failed' | 'unknown'

const MARK = 'batch:'

/** The answer of a wallet to a payment is the hash of a transaction, or this. */
export const nameBatch = (id: string): string => `${MARK}${id}`

/** The id of a batch; undefined for a hash. */
export const batchOf = (paidBy: string | undefined): string | undefined =>
  paidBy?.startsWith(MARK) ? paidBy.slice(MARK.length) : undefined

/** Reads a reply of `wallet_getCallsStatus`. */
export function readBatch(reply: unknown): BatchState {
  const status = typeof reply === 'object' && reply !== null && 'status' in reply ? reply.status : undefined
  if (typeof status !== 'number') return 'unknown'
  if (status >= 100 && status < 200) return 'pending'
  if (status >= 200 && status < 300) return 'confirmed'
  return status >= 400 && status < 700 ? 'failed' : 'unknown'
}

// About as long as a price holds.
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000]

/** Asks a few times until the batch has an end; the result stops it. */
export function followBatch(
  ask: () => Promise<BatchState>,
  onState: (state: BatchState) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const wait = ([pause, ...later]: readonly number[]) => {
    if (pause === undefined) return
    timer = setTimeout(async () => {
      const state = await ask()
      if (isStopped) return
      onState(state)
      if (state !== 'confirmed' && state !== 'failed') wait(later)
    }, pause)
  }
  wait(PAUSES_MS)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
