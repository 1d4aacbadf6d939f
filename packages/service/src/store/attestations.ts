import type { Share } from '../swap/group.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'

export type Outcome = 'claim' | 'refund'
export type Attestation = {
  id: string
  kind: Outcome
  /** In the signed order. */
  swapIds: string[]
  validUntil: number | undefined
  /** Written by attesters; each has yet to be verified. */
  signatures: WrittenSignature[]
}
/** `writtenBy`: the login role that wrote it. */
export type WrittenSignature = { signer: string; signature: string; writtenBy: string }

type NewAttestation = {
  chainId: number
  kind: Outcome
  swapIds: readonly string[]
  validUntil?: number
}

/** Proposes an outcome for the attesters to sign. */
export async function insertAttestation(db: Db, attestation: NewAttestation): Promise<void> {
  const { chainId, kind, swapIds, validUntil } = attestation
  await db.query(`insert into attestations (chain_id, kind, swap_ids, valid_until) values ($1, $2, $3, $4)`, [
    chainId,
    kind,
    swapIds,
    validUntil,
  ])
}

type Row = {
  id: string
  kind: Outcome
  swap_ids: string[]
  valid_until: string | null
  signatures: WrittenSignature[]
}

// A relayer takes a new attestation within two seconds. One that waits longer has no relayer, or failed before.
const USUAL_WAIT = '10 seconds'
// More than are sent at once, so that claims deferred to the next hour do not block others.
const FETCHED = 100

const SIGNATURES = `
  select coalesce(json_agg(json_build_object('signer', signer, 'signature', signature, 'writtenBy', written_by)), '[]')
         as signatures
    from attestation_signatures where attestation_id = a.id and signature is not null`

/**
 * Unsent attestations of this share with their signatures, and those that another relayer left for too long. The
 * earliest refund deadline comes first, and unsigned ones after signed ones. Blocked refunds come last, in random
 * order: they may wait for days and must not block others or each other.
 */
export async function findUnsent(db: Db, share: Share & { chainId: number }): Promise<Attestation[]> {
  const { rows } = await db.query<Row>(
    `select id, kind, swap_ids, valid_until, g.signatures
       from attestations a, lateral (
              ${SIGNATURES}) g, lateral (
              select coalesce(bool_or(s.state = 'refundBlocked'), false) as is_blocked,
                     min(o.refund_deadline) as refund_deadline
                from swaps s join ops o on o.id = s.op_id where s.id = any(a.swap_ids)) b
      where chain_id = $1 and attempt_id is null
        and (id % $2 = $3 or created_at < clock_timestamp() - interval '${USUAL_WAIT}')
      order by is_blocked, case when is_blocked then random() end, g.signatures::text = '[]', refund_deadline, id
      limit ${FETCHED}`,
    [share.chainId, share.of, share.index],
  )
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    swapIds: row.swap_ids,
    validUntil: toSeconds(row.valid_until),
    signatures: row.signatures,
  }))
}

/** `unproven`: swaps whose outcome some attester could not confirm. */
export type DisputedClaim = Omit<Attestation, 'validUntil'> & { unproven: string[] }

// Attesters sign within seconds. Nodes of some may lag behind those of the worker for about as long.
const USUAL_SIGNING = '30 seconds'

/** SQL condition of claims that may have to be split. */
export const IS_DISPUTABLE = `attempt_id is null and kind = 'claim' and cardinality(swap_ids) > 1
        and created_at < clock_timestamp() - interval '${USUAL_SIGNING}'`

/** Unsent claims of several swaps that some attester has not seen all of. */
export async function findDisputed(db: Db, chainId: number): Promise<DisputedClaim[]> {
  const { rows } = await db.query<Row & { unproven: string[] }>(
    `select id, kind, swap_ids, valid_until, g.signatures, u.unproven
       from attestations a, lateral (${SIGNATURES}) g, lateral (
              select array_agg(distinct e) as unproven
                from attestation_signatures s, unnest(s.unproven) e where s.attestation_id = a.id) u
      where chain_id = $1 and ${IS_DISPUTABLE} and u.unproven is not null
      order by id limit ${FETCHED}`,
    [chainId],
  )
  return rows.map(({ id, kind, swap_ids: swapIds, signatures, unproven }) => ({
    id,
    kind,
    swapIds,
    signatures,
    unproven,
  }))
}

const toSeconds = (value: string | null) => (value === null ? undefined : Number(value))

/**
 * Binds an attestation to the attempt that sends it. False if it was sent in the meantime. `hour` is by the chain's
 * clock.
 */
export async function bindAttestation(
  db: Db,
  bound: { id: string; attemptId: string; hour: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'update attestations set attempt_id = $2, sent_hour = $3 where id = $1 and attempt_id is null',
    [bound.id, bound.attemptId, bound.hour],
  )
  return rowCount === 1
}

// Long enough for a claim sent just before the end of the hour to be included.
const USUAL_INCLUSION = '1 minute'

/** Swaps whose claim was sent in a past hour of the chain's clock and is not final. */
export async function findClaimsOfEarlierHours(db: Db, { chainId, hour }: { chainId: number; hour: number }) {
  const { rows } = await db.query<{ attestation_id: string; swap_id: string }>(
    `select t.id as attestation_id, s.id as swap_id
       from swaps s
       join attempt_swaps l on l.swap_id = s.id and l.role = 'claim'
       join tx_attempts a on a.id = l.attempt_id
       join attestations t on t.attempt_id = a.id and t.kind = 'claim' and s.id = any(t.swap_ids) and t.chain_id = $1
      where s.state = 'claiming' and s.origin_chain = $1 and t.sent_hour < $2
        and a.created_at < clock_timestamp() - interval '${USUAL_INCLUSION}'`,
    [chainId, hour],
  )
  return rows.map((row) => ({ attestationId: row.attestation_id, swapId: row.swap_id }))
}

/** Releases claims to be sent again, whatever the outcome of their last transaction: an input leaves only once. */
export async function releaseAttestations(db: Db, ids: readonly string[]): Promise<void> {
  await db.query(`update attestations set attempt_id = null where id = any($1) and kind = 'claim'`, [ids])
}

/**
 * Releases claims and refunds whose transaction was finally consumed without closing all of their ops: it ran out of
 * gas, was replaced by a no-op, or an hourly cap deferred some. Transactions of removed keys have no follow-up and are
 * released at once: an input leaves only once.
 */
export async function releaseStalledAttestations(
  db: Db,
  { chainId, senders }: { chainId: number; senders: readonly string[] },
): Promise<void> {
  await db.query(
    `update attestations t set attempt_id = null
      where t.attempt_id in (
        select l.attempt_id
          from swaps s join attempt_swaps l on l.swap_id = s.id and l.role in ('claim', 'refund')
         where s.origin_chain = $1 and s.state in ${listOf(['claiming', 'refunding'])} and not exists (
           select 1 from attempt_swaps o join tx_attempts a on a.id = o.attempt_id
            where o.swap_id = s.id and o.role = l.role and a.sender = any($2)
              and (a.final_at is null or a.final_at > clock_timestamp() - interval '30 seconds')))`,
    [chainId, senders],
  )
}

/**
 * Closes an attestation whose swaps have all moved on. A sent one is kept with its last transaction, as the evidence
 * for each claim; an unsent one is deleted.
 */
export async function closeAttestation(db: Db, id: string): Promise<void> {
  await db.query(
    `update attestations t set attempt_id = (select max(l.attempt_id) from attempt_swaps l
                                              where l.swap_id = any(t.swap_ids) and l.role = t.kind)
      where t.id = $1 and t.attempt_id is null`,
    [id],
  )
  await dropAttestation(db, id)
}

/** Deletes an attestation that no contract accepts any more; a new one replaces it. False if it was sent or is gone. */
export async function dropAttestation(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from attestations where id = $1 and attempt_id is null', [id])
  return rowCount === 1
}

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
