import { keep, readKept } from '../kept.ts'

const NAME = 'operations'
const MOST = 100

type Remembered = { swapId: string; operation: unknown }

/**
 * What was signed for each swap. It stays in the browser: it is no secret, and without it nobody can have an input
 * back when the service is gone.
 */
export function rememberOperation(swapId: string, operation: unknown): void {
  const others = all().filter((each) => each.swapId !== swapId)
  keep(NAME, [{ swapId, operation }, ...others].slice(0, MOST), 'browser')
}

export function findOperation(swapId: string): unknown {
  return all().find((each) => each.swapId === swapId)?.operation
}

function all(): Remembered[] {
  return readKept<Remembered[]>(NAME) ?? []
}
