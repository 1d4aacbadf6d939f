import type { Share } from '../model/group.ts'
import type { Db } from './db.ts'

export type Outcome = 'claim' | 'refund'
export type Attestation = {
  id: string
  kind: Outcome
  swapIds: string[]
  validUntil: number | undefined
  signature: string
}

/**
 * Writes the one outcome of each op before anything is signed for it. Returns the ops for which this
 * outcome stands; an op with the other outcome is left out, for ever.
 */
export async function settleOutcomes(db: Db, outcome: Outcome, opHashes: readonly string[]) {
  const { rows } = await db.query<{ op_hash: string }>(
    `insert into attested_outcomes as o (op_hash, outcome) select unnest($1::text[]), $2
     on conflict (op_hash) do update set outcome = o.outcome where o.outcome = excluded.outcome
  returning op_hash`,
    [opHashes, outcome],
  )
  return new Set(rows.map((row) => row.op_hash))
}

type NewAttestation = {
  chainId: number
  kind: Outcome
  swapIds: readonly string[]
  validUntil?: number
  signature: string
}

export async function insertAttestation(db: Db, attestation: NewAttestation): Promise<void> {
  await db.query(
    `insert into attestations (chain_id, kind, swap_ids, valid_until, signature) values ($1, $2, $3, $4, $5)`,
    [
      attestation.chainId,
      attestation.kind,
      attestation.swapIds,
      attestation.validUntil,
      attestation.signature,
    ],
  )
}

type Row = { id: string; kind: Outcome; swap_ids: string[]; valid_until: string | null; signature: string }

// A relayer takes a new one within a second or two. What waits for longer has no relayer, or failed before.
const USUAL_WAIT = '10 seconds'
// More than are sent at once: claims that wait for the next hour hold up no others.
const FETCHED = 100

/**
 * Attestations that no relayer has sent yet: this one's part, and what another has left lying. The earliest refund
 * deadline first. Refunds that no wallet takes come last, any of them: they may stay for days, and shall keep no other
 * from being sent, nor each other.
 */
export async function findUnsent(db: Db, share: Share & { chainId: number }): Promise<Attestation[]> {
  const { rows } = await db.query<Row>(
    `select id, kind, swap_ids, valid_until, signature
       from attestations a, lateral (
              select coalesce(bool_or(s.state = 'refundBlocked'), false) as is_blocked,
                     min(o.refund_deadline) as refund_deadline
                from swaps s join ops o on o.id = s.op_id where s.id = any(a.swap_ids)) b
      where chain_id = $1 and attempt_id is null
        and (id % $2 = $3 or created_at < clock_timestamp() - interval '${USUAL_WAIT}')
      order by is_blocked, case when is_blocked then random() end, refund_deadline, id limit ${FETCHED}`,
    [share.chainId, share.of, share.index],
  )
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    swapIds: row.swap_ids,
    validUntil: toSeconds(row.valid_until),
    signature: row.signature,
  }))
}

export type WaitingAttestation = Omit<Attestation, 'swapIds'> & { chainId: number; opHashes: string[] }

/** Attestations that nobody sent for longer than usual, with what was signed. */
export async function findWaiting(db: Db): Promise<WaitingAttestation[]> {
  const { rows } = await db.query<Omit<Row, 'swap_ids'> & { chain_id: string; op_hashes: string[] }>(
    `select a.id, a.chain_id, a.kind, a.valid_until, a.signature,
            array(select o.hash from unnest(a.swap_ids) with ordinality as w (swap_id, place)
                    join swaps s on s.id = w.swap_id join ops o on o.id = s.op_id order by w.place) as op_hashes
       from attestations a
      where a.attempt_id is null and a.created_at < clock_timestamp() - interval '${USUAL_WAIT}'
      order by a.id limit 200`,
  )
  return rows.map((row) => ({
    ...{ id: row.id, kind: row.kind, signature: row.signature, opHashes: row.op_hashes },
    chainId: Number(row.chain_id),
    validUntil: toSeconds(row.valid_until),
  }))
}

const toSeconds = (value: string | null) => (value === null ? undefined : Number(value))

/** False when it was sent meanwhile. `hour` is of the chain's clock. */
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

// Long enough for a claim that was sent just before the hour turned to be in a block.
const USUAL_INCLUSION = '1 minute'

/** Swaps whose claim was sent in an hour of the chain's clock that is over, and is not final. */
export async function findClaimsOfEarlierHours(db: Db, { chainId, hour }: { chainId: number; hour: number }) {
  const { rows } = await db.query<{ attestation_id: string; swap_id: string }>(
    `select t.id as attestation_id, s.id as swap_id
       from attestations t join tx_attempts a on a.id = t.attempt_id
       join swaps s on s.id = any(t.swap_ids) and s.state = 'claiming'
      where t.chain_id = $1 and t.kind = 'claim' and t.sent_hour < $2
        and a.created_at < clock_timestamp() - interval '${USUAL_INCLUSION}'
        and s.origin_chain = $1`,
    [chainId, hour],
  )
  return rows.map((row) => ({ attestationId: row.attestation_id, swapId: row.swap_id }))
}

/** Lets these be sent again, whatever became of what they were sent in: an input leaves only once. */
export async function releaseAttestations(db: Db, ids: readonly string[]): Promise<void> {
  await db.query(`update attestations set attempt_id = null where id = any($1) and kind = 'claim'`, [ids])
}

/**
 * Lets claims and refunds be sent again whose transaction the chain consumed at a hard-final block without
 * closing all of their ops: it ran out of gas, was burnt, or an hourly cap put some off. What a key signed that is
 * not among the senders any more is followed up by nobody, and sent again at once: an input leaves only once.
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
         where s.origin_chain = $1 and s.state in ('claiming', 'refunding') and not exists (
           select 1 from attempt_swaps o join tx_attempts a on a.id = o.attempt_id
            where o.swap_id = s.id and o.role = l.role and a.sender = any($2)
              and (a.final_at is null or a.final_at > clock_timestamp() - interval '30 seconds')))`,
    [chainId, senders],
  )
}

/**
 * An attestation whose swaps have all moved on. What was sent once is kept with the last transaction it was sent in,
 * so that each claim shows by what it was allowed; what never was is dropped.
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

/** An attestation that no contract takes any more; another is signed in its place. */
export async function dropAttestation(db: Db, id: string): Promise<void> {
  await db.query('delete from attestations where id = $1 and attempt_id is null', [id])
}
