import { keep, readStored } from '../storage.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Every field of an operation, nested ones with their path; of typed data only the hashed values, not the
 * types.
 */
export function fieldsOf(operation: unknown): { name: string; value: string }[] {
  const { message, domain, ...own } = operation as Fields
  return message === undefined ? flatten(own) : flatten({ ...(message as Fields), domain })
}

function flatten(fields: Fields, path = ''): { name: string; value: string }[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const name = path ? `${path}.${key}` : key
    return isFields(value) ? flatten(value, name) : [{ name, value: String(value) }]
  })
}

/** In seconds. After `refund`, anyone can send the input back. */
export function deadlinesOf(operation: unknown): { fill?: number; refund?: number } {
  const { message } = operation as Fields
  const own = isFields(message) ? message : (operation as Fields)
  const nested = own['delivery']
  return {
    fill: isFields(nested) ? Number(nested['fillDeadline']) : undefined,
    refund: own['refundDeadline'] === undefined ? undefined : Number(own['refundDeadline']),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
