import type { Db } from './db.ts'

/** What a transaction is signed for: to take an input, to pay an output, to claim the input or give it back. */
export type SignedStep = 'input' | 'deliver' | 'exit'

/** By which hash a step knows its op, whose attempts they are, and where the one that was seen is noted. */
const STEPS = {
  input: { name: 'hash', roles: ['lock'], seen: 'origin_tx_hash' },
  deliver: { name: 'delivery_hash', roles: ['deliver'], seen: 'delivery_tx_hash' },
  exit: { name: 'hash', roles: ['claim', 'refund'], seen: 'refund_tx_hash' },
} as const

// One lands at most, and nothing is signed after it was seen: it is among the newest.
const NEWEST = 20

/** The transactions on record for a step of each op: the one that was seen first, then the newest attempts. */
export async function findSigned(
  db: Db,
  step: SignedStep,
  hashes: readonly string[],
): Promise<Map<string, string[]>> {
  if (hashes.length === 0) return new Map()
  const { name, roles, seen } = STEPS[step]
  const { rows } = await db.query<{ name: string; seen: string | null; attempts: string[] }>(
    `select o.${name} as name, s.${seen} as seen, array(
       select a.tx_hash from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
        where l.swap_id = s.id and l.role = any($2) order by a.id desc limit ${NEWEST}) as attempts
       from ops o join swaps s on s.op_id = o.id where o.${name} = any($1)`,
    [hashes, roles],
  )
  const signed = new Map<string, string[]>()
  for (const { name, seen, attempts } of rows) {
    const known = signed.get(name) ?? []
    signed.set(name, [...new Set([...known, ...(seen === null ? [] : [seen]), ...attempts])])
  }
  return signed
}
