import { keep, readStored } from '../storage.ts'

const NAME = 'operations'
const MOST = 100

type Remembered = { swapId: string; operation: unknown }

/**
 * Stores the signed operation of each swap in the browser. It is not secret, and a refund without the service
 * needs it.
 */
export function rememberOperation(swapId: string, operation: unknown): void {
  const others = all().filter((each) => each.swapId !== swapId)
  keep(NAME, [{ swapId, operation }, ...others].slice(0, MOST), 'browser')
}

export function findOperation(swapId: string): unknown {
  return all().find((each) => each.swapId === swapId)?.operation
}

function all(): Remembered[] {
  return readStored<Remembered[]>(NAME) ?? []
}
