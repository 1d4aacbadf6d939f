/** One item of a shared loop: a swap, an event, an account. `step` names the loop. */
export type Subject = { step: string; id: string }

export type Quarantine = {
  /** Whether the error says nothing about the item: a node, a signer or the database did not answer. */
  isOutage(error: unknown): boolean
  /** Records that the item is set aside. The item is not if this fails: the database may be what failed. */
  setAside(subject: Subject, error: unknown): Promise<void>
  release(subject: Subject): Promise<void>
}

// A deadlock or a deploy fails an item once or twice.
const MAX_FAILURES = 3
// A swap that is set aside may still have to be claimed, so it is tried again.
const RETRY_MS = 60_000
// Of a batch of 500 that failed, all at once would take every connection to the database.
const AT_ONCE = 8
// Strangers choose how many items there are.
const MAX_KNOWN = 10_000

type Record = { failures: number; retryAt: number }

let quarantine: Quarantine | undefined
const known = new Map<string, Record>()

/** Without a quarantine, no item is set aside. */
export function useQuarantine(used: Quarantine | undefined): void {
  quarantine = used
  known.clear()
}

/**
 * Runs the work of one item of a shared loop. Its error is collected and stops no other item. An item that fails three
 * times, and not by an outage, is set aside: it is tried once a minute, and its errors are recorded
 * instead of collected.
 */
export async function isolate<T>(
  faults: unknown[],
  subject: Subject,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const key = keyOf(subject)
  if (isAside(key)) return undefined
  let done: T
  try {
    done = await work()
  } catch (error) {
    if (!(await isSetAside(key, subject, error))) faults.push(error)
    return undefined
  }
  // The work is done, whether or not that can be recorded.
  if (known.has(key)) await release(key, subject).catch((error: unknown) => faults.push(error))
  return done
}

/** Does the work of all items at once, and returns the results of those that did not fail. */
export async function mapIsolated<T, R>(
  faults: unknown[],
  items: readonly T[],
  subjectOf: (item: T) => Subject,
  work: (item: T) => Promise<R>,
): Promise<{ item: T; result: R }[]> {
  const done = await Promise.all(
    items.map((item) => isolate(faults, subjectOf(item), async () => ({ item, result: await work(item) }))),
  )
  return done.filter((each) => each !== undefined)
}

/**
 * Does the work of all items in one go; of each apart, if that fails, so that an odd one holds up no other. An item
 * that failed before is done apart from the start. A success counts for its step: other work on the same items needs
 * a step of its own. Returns the results of those that did not fail.
 */
export async function isolateTogether<T, R>(
  faults: unknown[],
  items: readonly T[],
  subjectOf: (item: T) => Subject,
  work: (items: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const failed = items.filter((item) => known.has(keyOf(subjectOf(item))))
  const sound = items.filter((item) => !failed.includes(item))
  // Below, each of them fails or succeeds alone.
  const done = sound.length > 1 ? await work(sound).catch(() => undefined) : undefined
  const apart = done ? failed : items
  const alone: R[] = []
  for (let next = 0; next < apart.length; next += AT_ONCE) {
    const some = apart.slice(next, next + AT_ONCE)
    const worked = await mapIsolated(faults, some, subjectOf, (item) => work([item]))
    alone.push(...worked.flatMap(({ result }) => result))
  }
  return [...(done ?? []), ...alone]
}

/** The same for what only the operator names: chains, keys, tokens. If one fails, all do. */
export function mapOwn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return Promise.all(items.map((item) => work(item)))
}

const keyOf = ({ step, id }: Subject) => `${step} ${id}`

function isAside(key: string): boolean {
  const retryAt = known.get(key)?.retryAt ?? 0
  return performance.now() < retryAt
}

async function isSetAside(key: string, subject: Subject, error: unknown): Promise<boolean> {
  if (!quarantine || quarantine.isOutage(error)) return false
  const failures = (known.get(key)?.failures ?? 0) + 1
  const isAside = failures >= MAX_FAILURES && (await isRecorded(quarantine, subject, error))
  known.delete(key)
  known.set(key, { failures, retryAt: isAside ? performance.now() + RETRY_MS : 0 })
  for (const oldest of known.keys()) {
    if (known.size <= MAX_KNOWN) break
    known.delete(oldest)
  }
  return isAside
}

async function isRecorded({ setAside }: Quarantine, subject: Subject, error: unknown): Promise<boolean> {
  return setAside(subject, error).then(
    () => true,
    // The error of the item itself is collected instead.
    () => false,
  )
}

async function release(key: string, subject: Subject): Promise<void> {
  const isRecorded = (known.get(key)?.failures ?? 0) >= MAX_FAILURES
  if (isRecorded) await quarantine?.release(subject)
  known.delete(key)
}
