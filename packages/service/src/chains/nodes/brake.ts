import { setTimeout as sleep } from 'node:timers/promises'

/** The node was asked more than it allows. It may say for how long it wants to be left alone. */
export class TooManyRequests extends Error {
  readonly retryAfterMs: number | undefined

  constructor(retryAfterMs: number | undefined) {
    super('The node was asked too often')
    this.retryAfterMs = retryAfterMs
  }
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000

/**
 * Leaves a node alone for as long as it says, or longer each time that it says nothing. What was asked then waits, and
 * goes on one by one until the node answers again. Whoever has no time to wait that long gets the node's error at once.
 */
export function createBrake(patienceMs: number) {
  let freeAt = Number.NEGATIVE_INFINITY
  let pauseMs = FIRST_PAUSE_MS
  let refused: TooManyRequests | undefined
  let turn: Promise<void> = Promise.resolve()

  function press(error: unknown): void {
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
        // A timer may end a fraction of a millisecond early: the pause would not count as over then.
        while (performance.now() < freeAt) await sleep(Math.ceil(freeAt - performance.now()))
        try {
          const answer = await ask()
          refused = undefined
          pauseMs = FIRST_PAUSE_MS
          return answer
        } catch (error) {
          press(error)
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
        press(error)
      }
    }
    return askInTurn(ask, until)
  }
}
