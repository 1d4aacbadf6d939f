import type { Db } from './db.ts'

/** The step that a transaction was signed for: the input, the delivery, or the exit (claim or refund). */
type SignedStep = 'input' | 'deliver' | 'exit'

/**
 * The hash that identifies the op in each step, the roles of its attempts, and the column of the confirmed transaction.
 */
const STEPS = {
  input: { name: 'hash', roles: ['lock'], seen: 'origin_tx_hash' },
  deliver: { name: 'delivery_hash', roles: ['deliver'], seen: 'delivery_tx_hash' },
  exit: { name: 'hash', roles: ['claim', 'refund'], seen: 'refund_tx_hash' },
} as const

// At most one lands, and nothing is signed after it was seen, so it is among the newest.
const NEWEST = 20

/** The recorded transactions of a step of each op: the confirmed one first, then the newest attempts. */
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

/** Records whether the stored terms of a swap differ from the signed ones. */
export async function markUnsigned(db: Db, swapId: string, isUnsigned: boolean): Promise<void> {
  await db.query('update swaps set is_unsigned = $2 where id = $1', [swapId, isUnsigned])
}

export async function countUnsigned(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from swaps where is_unsigned',
  )
  return rows[0]?.count ?? 0
}
