import type { Outcome } from './attestations.ts'
import type { Db } from './db.ts'

/** An attestation that waits for this attester. */
export type Proposed = {
  id: string
  chainId: number
  kind: Outcome
  /** In the signed order. */
  swapIds: string[]
  validUntil: number | undefined
}

const CHECKED_AT_ONCE = 100

/** Unsent attestations without a signature of this login. Those that were checked longest ago come first. */
export async function findProposed(db: Db): Promise<Proposed[]> {
  const { rows } = await db.query<{
    id: string
    chain_id: string
    kind: Outcome
    swap_ids: string[]
    valid_until: string | null
  }>(
    `select a.id, a.chain_id, a.kind, a.swap_ids, a.valid_until
       from attestations a left join lateral (
              select bool_or(g.signature is not null) as is_signed, max(g.checked_at) as checked_at
                from attestation_signatures g
               where g.attestation_id = a.id and g.written_by = session_user) mine on true
      where a.attempt_id is null and mine.is_signed is not true
      order by mine.checked_at nulls first, a.id limit ${CHECKED_AT_ONCE}`,
  )
  return rows.map((row) => ({
    id: row.id,
    chainId: Number(row.chain_id),
    kind: row.kind,
    swapIds: row.swap_ids,
    validUntil: row.valid_until === null ? undefined : Number(row.valid_until),
  }))
}

/**
 * Records the outcome that this login signs for each op, before any signature. Returns the ops for which this outcome
 * holds. An op with the other outcome is excluded forever.
 */
export async function settleOutcomes(db: Db, outcome: Outcome, opHashes: readonly string[]) {
  const { rows } = await db.query<{ op_hash: string }>(
    `insert into signed_outcomes as o (op_hash, outcome) select unnest($1::text[]), $2
     on conflict (op_hash, written_by) do update set outcome = o.outcome where o.outcome = excluded.outcome
  returning op_hash`,
    [opHashes, outcome],
  )
  return new Set(rows.map((row) => row.op_hash))
}

type Check = {
  attestationId: string
  signer: string
  /** Undefined while the attester has not seen all of it. */
  signature?: string
  /** Ids of swaps that the attester has not seen to be so. */
  unproven?: readonly string[]
}

/** Records what this login found, unless the attestation is gone. A signature stays. */
export async function recordCheck(
  db: Db,
  { attestationId, signer, signature, unproven = [] }: Check,
): Promise<void> {
  await db.query(
    `insert into attestation_signatures as g (attestation_id, signer, signature, unproven)
     select id, $2, $3, $4 from attestations where id = $1
     on conflict (attestation_id, written_by, signer) do update
        set signature = coalesce(excluded.signature, g.signature), unproven = excluded.unproven,
            checked_at = clock_timestamp()`,
    [attestationId, signer, signature ?? null, unproven],
  )
}
