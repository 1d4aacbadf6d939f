import type { Chain, ChainEvent, Heads } from '../chains/chain.ts'

export type EventLog = {
  /** Brings the log up to these heads. `from` is where the oldest open swap began. */
  advance(heads: Heads, from: bigint): Promise<void>
  /** Looks further back when the log does not reach: `since` is where the op began. */
  find(kind: ChainEvent['kind'], id: string, since: bigint): Promise<ChainEvent | undefined>
}

/** What our contracts on one chain said lately. The part that is not hard-final is read anew each time. */
export function createEventLog(chain: Pick<Chain, 'readEvents'>): EventLog {
  let final = new Map<string, ChainEvent>()
  let recent = new Map<string, ChainEvent>()
  let finalTo: bigint | undefined
  let start = 0n
  let head = 0n

  return {
    async advance(heads, from) {
      if (finalTo === undefined) {
        start = from < heads.hard.number ? from : heads.hard.number
        finalTo = start > 0n ? start - 1n : start
      }
      const events = await chain.readEvents({ from: finalTo + 1n, to: heads.head.number })
      for (const event of events)
        if (event.block <= heads.hard.number) final.set(keyOf(event.kind, event.id), event)
      recent = new Map(events.map((event) => [keyOf(event.kind, event.id), event]))
      head = heads.head.number
      if (heads.hard.number > finalTo) finalTo = heads.hard.number
      final = keepFrom(final, from)
    },
    async find(kind, id, since) {
      const key = keyOf(kind, id)
      const known = recent.get(key) ?? final.get(key)
      if (known || since >= start) return known
      const older = await chain.readEvents({ from: since, to: head })
      return older.find((event) => event.kind === kind && event.id === id)
    },
  }
}

const keyOf = (kind: string, id: string) => `${kind}:${id}`

function keepFrom(events: Map<string, ChainEvent>, from: bigint): Map<string, ChainEvent> {
  return new Map([...events].filter(([, event]) => event.block >= from))
}
