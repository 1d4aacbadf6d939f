import { setTimeout as sleep } from 'node:timers/promises'

/** The node's rate limit was exceeded. Its answer may contain a waiting time. */
export class TooManyRequests extends Error {
  readonly retryAfterMs: number | undefined

  constructor(retryAfterMs: number | undefined) {
    super('The node refused the request: too many requests')
    this.retryAfterMs = retryAfterMs
  }
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000

/**
 * Pauses requests to a rate-limited node for the time it asks for, or with exponential backoff. Waiting requests then
 * run one by one until the node answers again. A request that cannot wait that long fails at once with the node's
 * error.
 */
export function createBackoff(patienceMs: number) {
  let freeAt = Number.NEGATIVE_INFINITY
  let pauseMs = FIRST_PAUSE_MS
  let refused: TooManyRequests | undefined
  let turn: Promise<void> = Promise.resolve()

  function backOff(error: unknown): void {
    if (!(error instanceof TooManyRequests)) throw error
    refused = error
    const now = performance.now()
    const isNew = now >= freeAt
    freeAt = Math.max(freeAt, now + (error.retryAfterMs ?? (isNew ? pauseMs : 0)))
    if (isNew) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }

  async function askInTurn<T>(ask: () => Promise<T>, until: number): Promise<T> {
    const before = turn
    let pass = () => {}
    turn = new Promise((resolve) => {
      pass = resolve
    })
    try {
      await before
      while (refused) {
        if (freeAt > until) throw refused
        // A timer may fire a fraction of a millisecond early, before the pause is over.
        while (performance.now() < freeAt) await sleep(Math.ceil(freeAt - performance.now()))
        try {
          const answer = await ask()
          refused = undefined
          pauseMs = FIRST_PAUSE_MS
          return answer
        } catch (error) {
          backOff(error)
        }
      }
    } finally {
      pass()
    }
    return ask()
  }

  return async <T>(ask: () => Promise<T>): Promise<T> => {
    const until = performance.now() + patienceMs
    if (!refused) {
      try {
        return await ask()
      } catch (error) {
        backOff(error)
      }
    }
    return askInTurn(ask, until)
  }
}
