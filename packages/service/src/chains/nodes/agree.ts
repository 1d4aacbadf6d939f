/** How many of these nodes have to say the same before money follows from it: more than half. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1
}

/** Fewer nodes than needed gave the same answer: some are behind, on another fork, or lie. */
export class NoAgreementError extends Error {
  override name = 'NoAgreementError'
}

/**
 * What a majority of the nodes asked says alike, as soon as it does; `nameOf` is the same for answers that mean
 * the same. A node that fails has no say; its reason is given when too few are left.
 */
export function agree<T>(asked: readonly Promise<T>[], nameOf: (answer: T) => string): Promise<T> {
  const needed = majorityOf(asked.length)
  const votes = new Map<string, number>()
  let open = asked.length
  let best = 0
  return new Promise((resolve, reject) => {
    const isHopeless = () => best + open < needed
    for (const answer of asked) {
      answer.then(
        (value) => {
          open -= 1
          const name = nameOf(value)
          const count = (votes.get(name) ?? 0) + 1
          votes.set(name, count)
          best = Math.max(best, count)
          if (count === needed) resolve(value)
          else if (isHopeless()) reject(new NoAgreementError(`${best} of ${asked.length} nodes agree`))
        },
        (error: unknown) => {
          open -= 1
          if (isHopeless()) reject(error)
        },
      )
    }
  })
}

// How long those that answered wait for the rest.
const GRACE_MS = 250

/**
 * The highest point that a majority has reached. Nodes that are behind or silent hold nobody up for long, and
 * one that is ahead of all others, truly or not, is not followed.
 */
export async function reachedByMajority<T>(
  asked: readonly Promise<T>[],
  heightOf: (answer: T) => bigint,
): Promise<T> {
  const needed = majorityOf(asked.length)
  const heard = await collect(asked, needed)
  const ordered = heard.sort((a, b) => (heightOf(a) < heightOf(b) ? 1 : heightOf(a) > heightOf(b) ? -1 : 0))
  return ordered[needed - 1] as T
}

/** For figures that honest nodes differ in: the lower of two, and never that of one node against two others. */
export async function medianOfNodes(asked: readonly Promise<bigint>[]): Promise<bigint> {
  return medianOf(await collect(asked, majorityOf(asked.length)))
}

/** The lower one of an even number. */
export function medianOf(figures: readonly bigint[]): bigint {
  const ordered = [...figures].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const median = ordered[Math.floor((ordered.length - 1) / 2)]
  if (median === undefined) throw new Error('There is no median of nothing')
  return median
}

function collect<T>(asked: readonly Promise<T>[], needed: number): Promise<T[]> {
  const heard: T[] = []
  let open = asked.length
  let timer: NodeJS.Timeout | undefined
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer)
      resolve(heard)
    }
    for (const answer of asked) {
      answer
        .then(
          (value) => void heard.push(value),
          (error: unknown) => {
            if (heard.length + open - 1 < needed) reject(error)
          },
        )
        .then(() => {
          open -= 1
          if (heard.length < needed) return
          if (open === 0) finish()
          else timer ??= setTimeout(finish, GRACE_MS)
        })
    }
  })
}
