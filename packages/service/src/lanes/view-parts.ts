import type { Heads } from '../chains/chain.ts'
import type { ChainView, ViewReader } from '../chains/view.ts'
import type { Pace } from '../model/poll-pace.ts'

const PARTS = ['costs', 'state', 'pools'] as const
type Part = (typeof PARTS)[number]
type Parts = Pick<ChainView, Part>
type ReadAt = Partial<Record<Part, number>>

const RETRY_MS = 1_000
const NEVER = Number.NEGATIVE_INFINITY

/** Keeps the parts of a view beside its heads. Reads a part at a new head once it is old enough. */
export function createViewParts(reader: ViewReader) {
  const parts: Parts = {}
  const readAt: ReadAt = {}
  let readFor: string | undefined
  let retryAt = 0

  return {
    current: () => parts,
    ages(): Omit<ChainView['agesMs'], 'head'> {
      const now = performance.now()
      return Object.fromEntries(Object.entries(readAt).map(([part, at]) => [part, Math.round(now - at)]))
    },
    /** Due at a new block; a failed reading is retried after a pause. */
    isDue: (at: Heads) => at.head.hash !== readFor && performance.now() >= retryAt,
    /** Returns the parts that were read, and the error of one that failed. */
    async read(at: Heads, pace: Pace): Promise<{ read: Parts; fault?: unknown }> {
      const due = dueParts(pace, readAt)
      const answers = await readAll(reader, due, at)
      for (const part of due) if (part in answers.read) readAt[part] = performance.now()
      Object.assign(parts, answers.read)
      if (answers.fault === undefined) readFor = at.head.hash
      else retryAt = performance.now() + RETRY_MS
      return answers
    },
  }
}

function dueParts(pace: Pace, readAt: ReadAt): Part[] {
  const leastAge = { costs: pace.costsMs, state: pace.stateMs, pools: pace.poolsMs }
  return PARTS.filter((part) => performance.now() - (readAt[part] ?? NEVER) >= leastAge[part])
}

/** Reads in one tick, so that an adapter can batch all calls. A failed part does not affect the others. */
async function readAll(reader: ViewReader, due: readonly Part[], at: Heads) {
  const reads = {
    costs: () => reader.readCosts(at),
    state: () => reader.readState(at),
    pools: () => reader.readPools(at),
  }
  const answers = await Promise.allSettled(due.map(async (part) => [part, await reads[part]()] as const))
  const read = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  return { read: Object.fromEntries(read) as Parts, ...(failed && { fault: failed.reason as unknown }) }
}
