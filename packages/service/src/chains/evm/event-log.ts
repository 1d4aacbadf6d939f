import type { Heads } from '../chain.ts'

/** What our contracts said, and in which transaction. `id` is an op's hash or a delivery's. */
export type ChainEvent = {
  kind: 'locked' | 'claimed' | 'refunded' | 'delivered'
  id: string
  txHash: string
  block: bigint
  /** Of a delivery: what was paid. */
  amount?: bigint
  /** Of a refund: the wallets whose push was refused in the same transaction, and who were credited instead. */
  creditedTo?: readonly string[]
}

type ReadEvents = (range: { from: bigint; to: bigint }) => Promise<ChainEvent[]>

export type EventLog = {
  /** Brings the log up to these heads. `from` is where the oldest open swap began. */
  advance(heads: Heads, from: bigint): Promise<void>
  /**
   * Looks further back when the log does not reach: `since` is where the op began. `mustBeThere` when the chain's
   * state shows that it happened, or it would be too late to: what is missing then is looked for once more.
   */
  find(
    kind: ChainEvent['kind'],
    id: string,
    since: bigint,
    mustBeThere?: boolean,
  ): Promise<ChainEvent | undefined>
}

/** Read once more with the next range: logs that a node had not indexed yet are not lost. */
export const OVERLAP = 16n

/** What our contracts on one chain said lately. The part that is not hard-final is read anew each time. */
export function createEventLog(readEvents: ReadEvents): EventLog {
  let final = new Map<string, ChainEvent>()
  let recent = new Map<string, ChainEvent>()
  let finalTo: bigint | undefined
  let start = 0n
  let head = 0n

  /** What begins to matter may be older than what was kept. */
  async function extendTo(from: bigint): Promise<void> {
    for (const event of await readEvents({ from, to: start - 1n }))
      final.set(keyOf(event.kind, event.id), event)
    start = from
  }

  return {
    async advance(heads, from) {
      if (finalTo === undefined) {
        start = from < heads.hard.number ? from : heads.hard.number
        finalTo = start > 0n ? start - 1n : start
      }
      if (from < start) await extendTo(from)
      const again = finalTo + 1n - OVERLAP
      const events = await readEvents({ from: again > start ? again : start, to: heads.head.number })
      for (const event of events)
        if (event.block <= heads.hard.number) final.set(keyOf(event.kind, event.id), event)
      recent = new Map(events.map((event) => [keyOf(event.kind, event.id), event]))
      head = heads.head.number
      if (heads.hard.number > finalTo) finalTo = heads.hard.number
      final = keepFrom(final, from)
      const kept = from < heads.hard.number ? from : heads.hard.number
      if (kept > start) start = kept
    },
    async find(kind, id, since, mustBeThere = false) {
      const key = keyOf(kind, id)
      const known = recent.get(key) ?? final.get(key)
      if (known || (since >= start && !mustBeThere)) return known
      const older = await readEvents({ from: since, to: head })
      return older.find((event) => event.kind === kind && event.id === id)
    },
  }
}

const keyOf = (kind: string, id: string) => `${kind}:${id}`

function keepFrom(events: Map<string, ChainEvent>, from: bigint): Map<string, ChainEvent> {
  return new Map([...events].filter(([, event]) => event.block >= from))
}
