import { createHash } from 'node:crypto'
import type { TxRequest } from '../chains/chain.ts'
import { toJson } from '../store/json.ts'

/**
 * Hashes the effect of a request: all replacements except a no-op share it, and the write-ahead log shows that. Sorts
 * the fields first, because the database does not keep their order.
 */
export function effectHash(request: TxRequest): string {
  return createHash('sha256')
    .update(toJson(inOrder(request) as object))
    .digest('hex')
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const fields = new Map<string, unknown>(Object.entries(value))
  const names = [...fields.keys()].sort()
  return Object.fromEntries(names.map((name) => [name, inOrder(fields.get(name))]))
}
