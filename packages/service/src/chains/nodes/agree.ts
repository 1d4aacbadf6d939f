/** A node did not answer, or not to the question. */
export class NodeSilence extends Error {
  override name = 'NodeSilence'
}

const MAX_DEPTH = 10

/** Whether an error, or one that caused it, says that a node or the way to it was silent. */
export function isNodeSilence(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof NodeSilence || isOfSystem(cause) || isAborted(cause),
  )
}

/** The error and what caused it, outermost first. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < MAX_DEPTH; cause = cause.cause)
    causes.push(cause)
  return causes
}

/** A refused or broken connection. */
const isOfSystem = (error: Error) => 'syscall' in error

/** The platform gives these no class of their own. */
const isAborted = (error: Error) =>
  error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError')

// See docs/decisions.md#a-majority-of-nodes.
/** The number of nodes that have to agree before money depends on an answer: more than half. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1
}

/** Fewer nodes than needed gave the same answer: some are behind, on another fork, or lie. */
export class NoAgreementError extends NodeSilence {
  override name = 'NoAgreementError'
}

/**
 * Returns the answer of a majority of the nodes, as soon as there is one; `nameOf` is equal for equivalent answers. A
 * node has no vote if it fails, or if `nameOf` throws. `refusalOf` names an error that is an answer too, such as that a
 * contract refuses: a majority that gives it has it thrown. If too few votes are left, throws an error that is none:
 * a single node must not decide.
 */
export function agree<T>(
  asked: readonly Promise<T>[],
  nameOf: (answer: T) => string,
  refusalOf: (error: unknown) => string | undefined = () => undefined,
): Promise<T> {
  const needed = majorityOf(asked.length)
  const votes = new Map<string, number>()
  let open = asked.length
  let best = 0
  let fault: unknown
  const vote = (name: string): number => {
    const count = (votes.get(name) ?? 0) + 1
    votes.set(name, count)
    best = Math.max(best, count)
    return count
  }
  return new Promise((resolve, reject) => {
    const rejectIfHopeless = (why: unknown) => {
      if (best + open < needed) reject(why ?? new NoAgreementError(`${best} of ${asked.length} nodes agree`))
    }
    for (const answer of asked) {
      const named = answer.then((value) => ({ value, name: nameOf(value) }))
      named.then(
        ({ value, name }) => {
          open -= 1
          if (vote(`answer ${name}`) === needed) resolve(value)
          else rejectIfHopeless(undefined)
        },
        (error: unknown) => {
          open -= 1
          const refusal = refusalOf(error)
          if (refusal === undefined) fault = error
          else if (vote(`refusal ${refusal}`) === needed) reject(error)
          rejectIfHopeless(fault)
        },
      )
    }
  })
}

// How long to wait for the rest once enough nodes have answered.
const GRACE_MS = 250

/**
 * Returns the highest point that a majority has reached. Lagging or silent nodes delay it only briefly, and a node
 * ahead of all others, truly or not, is not followed.
 */
export async function reachedByMajority<T>(
  asked: readonly Promise<T>[],
  heightOf: (answer: T) => bigint,
): Promise<T> {
  const needed = majorityOf(asked.length)
  const answers = await collect(asked, needed)
  const ordered = answers.sort((a, b) => (heightOf(a) < heightOf(b) ? 1 : heightOf(a) > heightOf(b) ? -1 : 0))
  return ordered[needed - 1] as T
}

/** The median of figures that honest nodes differ in, the lower of two. One node cannot outvote two others. */
export async function medianOfNodes(asked: readonly Promise<bigint>[]): Promise<bigint> {
  return medianOf(await collect(asked, majorityOf(asked.length)))
}

/** The lower median for an even count. */
export function medianOf(figures: readonly bigint[]): bigint {
  const ordered = [...figures].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const median = ordered[Math.floor((ordered.length - 1) / 2)]
  if (median === undefined) throw new Error('No figures for a median')
  return median
}

function collect<T>(asked: readonly Promise<T>[], needed: number): Promise<T[]> {
  const answers: T[] = []
  let open = asked.length
  let timer: NodeJS.Timeout | undefined
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer)
      resolve(answers)
    }
    for (const answer of asked) {
      answer
        .then(
          (value) => void answers.push(value),
          (error: unknown) => {
            if (answers.length + open - 1 < needed) reject(error)
          },
        )
        .then(() => {
          open -= 1
          if (answers.length < needed) return
          if (open === 0) finish()
          else timer ??= setTimeout(finish, GRACE_MS)
        })
    }
  })
}
