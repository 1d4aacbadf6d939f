/** A lane as every worker sees it; free if it has no holder. */
export type SeenLane = { name: string; holder?: string }

type Seen = {
  me: string
  /** All lanes that this worker could run. */
  lanes: readonly SeenLane[]
  /** Lanes that stayed free although another worker should have taken them. */
  neglected: ReadonlySet<string>
  /** Lanes just handed to another worker that has not taken them yet. */
  handedOver: ReadonlySet<string>
}

/** The lanes to take, at most `limit` of them, or the one lane to ask another worker for. */
type Choice = { take: string[]; limit: number; ask?: string }

/**
 * Chooses free lanes up to an equal share, and beyond it those that no other worker takes. Without free lanes, asks the
 * worker with the most lanes for one, if the two differ by more than one.
 */
export function chooseLanes({ me, lanes, neglected, handedOver }: Seen): Choice {
  const held = countByHolder(lanes)
  const mine = held.get(me) ?? 0
  const share = fairShare({ lanes: lanes.length, held: mine, holders: held.size })
  const free = lanes.filter(({ name, holder }) => holder === undefined && !handedOver.has(name))
  const take = free.map(({ name }) => name).filter((name) => share > 0 || neglected.has(name))
  if (take.length > 0) return { take, limit: Math.max(share, neglected.size) }
  const [busiest, most] = [...held].reduce((max, each) => (each[1] > max[1] ? each : max), [me, mine])
  const wanted = share > 0 && most - mine > 1 ? lanes.find(({ holder }) => holder === busiest) : undefined
  return { take, limit: 0, ask: wanted?.name }
}

function countByHolder(lanes: readonly SeenLane[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { holder } of lanes) if (holder !== undefined) counts.set(holder, (counts.get(holder) ?? 0) + 1)
  return counts
}

/** Returns how many more lanes to take: an equal share, which is all if no other worker holds any. */
export function fairShare(seen: { lanes: number; held: number; holders: number }): number {
  const workers = seen.holders + (seen.held > 0 ? 0 : 1)
  return Math.max(0, Math.ceil(seen.lanes / workers) - seen.held)
}

type Options = { me: string; renewMs: number; now(): number }

const NEGLECTED_RENEWALS = 2
// Waits before it asks for lanes: a worker in a crash loop must not take lanes down with it each time.
const PATIENT_RENEWALS = 8

/** Keeps the state of lane balancing from one renewal to the next. */
export function createLaneBalancer({ me, renewMs, now }: Options) {
  const freeSince = new Map<string, number>()
  const handedOverAt = new Map<string, number>()
  let askFrom = now() + PATIENT_RENEWALS * renewMs
  let handOverFrom = 0

  const isLongAgo = (at: number) => now() - at > NEGLECTED_RENEWALS * renewMs

  return {
    choose(lanes: readonly SeenLane[]): Choice {
      for (const { name, holder } of lanes) {
        if (holder !== undefined) freeSince.delete(name)
        else if (!freeSince.has(name)) freeSince.set(name, now())
      }
      for (const [name, at] of handedOverAt) if (isLongAgo(at)) handedOverAt.delete(name)
      const neglected = new Set([...freeSince].flatMap(([name, since]) => (isLongAgo(since) ? [name] : [])))
      const { ask, ...choice } = chooseLanes({
        me,
        lanes,
        neglected,
        handedOver: new Set(handedOverAt.keys()),
      })
      if (ask === undefined || now() < askFrom) return choice
      askFrom = now() + renewMs
      return { ...choice, ask }
    },
    /** Allows one lane per renewal, so that the asking worker sees the effect before it asks again. */
    mayHandOver(): boolean {
      if (now() < handOverFrom) return false
      handOverFrom = now() + renewMs
      return true
    },
    noteHandedOver: (name: string) => void handedOverAt.set(name, now()),
  }
}
