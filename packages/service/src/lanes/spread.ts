/** A lane as every worker sees it; without a holder it is free. */
export type SeenLane = { name: string; holder?: string }

type Seen = {
  me: string
  /** Every lane that this worker could work on. */
  lanes: readonly SeenLane[]
  /** Free for so long that whoever should take them does not. */
  neglected: ReadonlySet<string>
  /** Just handed to another, who has not taken them yet. */
  handedOver: ReadonlySet<string>
}

/** Which lanes to take, at most `limit` of them; or which one to ask another worker for. */
export type Choice = { take: string[]; limit: number; ask?: string }

/**
 * Free lanes up to an equal part of all, and beyond it those that nobody else takes. Where there are none, one of
 * whoever has most, if that brings the two closer: with a difference of one, lanes stay where they are.
 */
export function chooseLanes({ me, lanes, neglected, handedOver }: Seen): Choice {
  const held = countByHolder(lanes)
  const mine = held.get(me) ?? 0
  const share = fairShare({ lanes: lanes.length, held: mine, holders: held.size })
  const free = lanes.filter(({ name, holder }) => holder === undefined && !handedOver.has(name))
  const take = free.map(({ name }) => name).filter((name) => share > 0 || neglected.has(name))
  if (take.length > 0) return { take, limit: Math.max(share, neglected.size) }
  const [richest, most] = [...held].reduce((rich, each) => (each[1] > rich[1] ? each : rich), [me, mine])
  const wanted = share > 0 && most - mine > 1 ? lanes.find(({ holder }) => holder === richest) : undefined
  return { take, limit: 0, ...(wanted && { ask: wanted.name }) }
}

function countByHolder(lanes: readonly SeenLane[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { holder } of lanes) if (holder !== undefined) counts.set(holder, (counts.get(holder) ?? 0) + 1)
  return counts
}

/** How many more lanes to take: an equal part of all, or everything when nobody else is there. */
export function fairShare(seen: { lanes: number; held: number; holders: number }): number {
  const isAlone = seen.holders === (seen.held > 0 ? 1 : 0)
  if (isAlone) return seen.lanes - seen.held
  const workers = seen.holders + (seen.held > 0 ? 0 : 1)
  return Math.max(0, Math.ceil(seen.lanes / workers) - seen.held)
}

type Options = { me: string; beatMs: number; now(): number }

const NEGLECTED_BEATS = 2
// A worker that dies soon after its start must not take lanes with it, again and again.
const PATIENT_BEATS = 8

/** What a worker remembers of the lanes from one look to the next. */
export function createSpreading({ me, beatMs, now }: Options) {
  const freeSince = new Map<string, number>()
  const handedOverAt = new Map<string, number>()
  let askFrom = now() + PATIENT_BEATS * beatMs
  let handOverFrom = 0

  const olderThan = (times: ReadonlyMap<string, number>) => (name: string) =>
    now() - (times.get(name) ?? now()) > NEGLECTED_BEATS * beatMs

  return {
    choose(lanes: readonly SeenLane[]): Choice {
      for (const { name, holder } of lanes) {
        if (holder !== undefined) freeSince.delete(name)
        else if (!freeSince.has(name)) freeSince.set(name, now())
      }
      for (const name of handedOverAt.keys()) if (olderThan(handedOverAt)(name)) handedOverAt.delete(name)
      const neglected = new Set([...freeSince.keys()].filter(olderThan(freeSince)))
      const { ask, ...choice } = chooseLanes({
        me,
        lanes,
        neglected,
        handedOver: new Set(handedOverAt.keys()),
      })
      if (ask === undefined || now() < askFrom) return choice
      askFrom = now() + beatMs
      return { ...choice, ask }
    },
    /** At most one in a beat: whoever asks sees by then what the last one changed. */
    mayHandOver(): boolean {
      if (now() < handOverFrom) return false
      handOverFrom = now() + beatMs
      return true
    },
    noteHandedOver: (name: string) => void handedOverAt.set(name, now()),
  }
}
