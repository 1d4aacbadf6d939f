import type { Pool } from 'pg'
import { delay } from '../bench/clock.ts'

/** Ends a wait that is hopeless: a slow machine makes slow progress, and one that waits for nothing makes none. */
export function createStillness(mostMs: number) {
  let last = ''
  let since = Date.now()
  return {
    /** Whether these signs of progress have not changed for that time. */
    isStill(signs: readonly unknown[]): boolean {
      const now = signs.join()
      if (now !== last) since = Date.now()
      last = now
      return Date.now() - since > mostMs
    },
  }
}

const STEPS = 'select (select count(*) from chaos_moves) + (select count(*) from tx_attempts) as steps'

/** The number of steps that swaps have made. Undefined while the database is down. */
export async function countSteps(pool: Pool): Promise<string | undefined> {
  const found = await pool.query<{ steps: string }>(STEPS).catch(() => undefined)
  return found?.rows[0]?.steps
}

const TRIES = 20
const AGAIN_MS = 250

/** Tries again what a busy machine keeps from succeeding. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work()
    } catch (failure) {
      if (tried === TRIES) throw failure
    }
    await delay(AGAIN_MS)
  }
}
