import type { Refusal, Sent, SigningTerms, TxRequest } from '../chains/chain.ts'
import { groupBy } from '../swap/group.ts'
import type { SwapState } from '../swap/lifecycle.ts'
import type { Op } from '../swap/swap.ts'
import type { Db } from './db.ts'
import type { Lease } from './lanes.ts'
import { isOpenAt, toJson } from './sql.ts'

export type Role = 'lock' | 'deliver' | 'claim' | 'refund' | 'recover' | 'topup' | 'sweep' | 'noop'

/** A signed transaction, recorded before it was first sent. */
export type Attempt = Sent & {
  chainId: number
  sender: string
  role: Role
  raw: string
  /** Its nonce is consumed at settle depth. */
  isConsumed: boolean
}

type Row = {
  id: string
  chain_id: string
  sender: string
  nonce: string
  replacement: number
  role: Role
  tx_hash: string
  raw: string
  request: { request: TxRequest; terms: SigningTerms; sentAtBlock: string; sentAtSeconds: number }
  last_valid: string | null
  consumed_block: string | null
}

export type SenderKey = { chainId: number; address: string }

/** The nonce that the key takes next; undefined before its nonce on the chain was read. */
export async function findNextNonce(db: Db, key: SenderKey): Promise<number | undefined> {
  const { rows } = await db.query<{ nonce: string }>(
    'select next_nonce as nonce from sender_keys where chain_id = $1 and address = $2',
    [key.chainId, key.address],
  )
  return rows[0] && Number(rows[0].nonce)
}

/** Of these nonces of a key, those with a recorded attempt, whatever became of it. */
export async function findRecordedNonces(
  db: Db,
  { chainId, address }: SenderKey,
  nonces: readonly number[],
): Promise<Set<number>> {
  const { rows } = await db.query<{ nonce: string }>(
    'select distinct nonce from tx_attempts where chain_id = $1 and sender = $2 and nonce = any($3::bigint[])',
    [chainId, address, nonces],
  )
  return new Set(rows.map(({ nonce }) => Number(nonce)))
}

/** Never lowers a nonce: nonces that the database issued count even if the chain has not seen them. */
export async function raiseNonce(db: Db, key: SenderKey & { atLeast: number }): Promise<void> {
  await db.query(
    `insert into sender_keys as k (chain_id, address, next_nonce) values ($1, $2, $3)
     on conflict (chain_id, address) do update set next_nonce = greatest(k.next_nonce, excluded.next_nonce)`,
    [key.chainId, key.address, key.atLeast],
  )
}

/** All keys that ever sent on this chain, replaced ones included. */
export async function listSenders(db: Db, chainId: number): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>(
    'select address from sender_keys where chain_id = $1',
    [chainId],
  )
  return rows.map(({ address }) => address)
}

type NewAttempt = Omit<Attempt, 'id' | 'isBurn' | 'nonce' | 'isConsumed'> & {
  /** Omitted on chains without nonces; the attempt then gets a number of its own. */
  nonce?: number
  effectHash: string
  swapIds: readonly string[]
}

/**
 * Records the signed bytes, and takes their nonce, which a replacement shares. They may be sent only after the
 * surrounding commit. Undefined, with nothing recorded, if another worker has taken the lane, or if the nonce is not
 * the key's next one.
 */
export async function recordAttempt(db: Db, attempt: NewAttempt, lease: Lease): Promise<string | undefined> {
  const { request, terms, sentAtBlock, sentAtSeconds } = attempt
  const { rows } = await db.query<{ id: string }>(
    `with held as (
       select 1 from lanes where name = $12 and fence = $13 and holder = $14 and expires_at > clock_timestamp()
     ), taken as (
       update sender_keys set next_nonce = next_nonce + 1 from held
        where chain_id = $1 and address = $2 and next_nonce = $3 and $4 = 0
       returning 1
     ), added as (
       insert into tx_attempts (chain_id, sender, nonce, replacement, role, tx_hash, raw, effect_hash, request,
                                last_valid)
       select $1, $2, coalesce($3, nextval(pg_get_serial_sequence('tx_attempts', 'id'))), $4, $5, $6, $7, $8, $9, $10
         from held where $3 is null or $4 > 0 or exists (select 1 from taken)
       returning id
     ), linked as (
       insert into attempt_swaps (attempt_id, swap_id, role)
       select added.id, swap_id, $5 from added, unnest($11::text[]) as swap_id
     )
     select id from added`,
    [
      attempt.chainId,
      attempt.sender,
      attempt.nonce,
      attempt.replacement,
      attempt.role,
      attempt.txHash,
      attempt.raw,
      attempt.effectHash,
      toJson({ request, terms, sentAtBlock, sentAtSeconds }),
      attempt.lastValid?.toString(),
      attempt.swapIds,
      lease.name,
      lease.fence,
      lease.holder,
    ],
  )
  return rows[0]?.id
}

const SELECT = `
  select id, chain_id, sender, nonce, replacement, role, tx_hash, raw, request, last_valid, consumed_block
    from tx_attempts`

// Of the included attempts, the first become final first, and a reorg returns the last first.
export const FIRST_MINED = 200
const LAST_MINED = 20

/**
 * Open attempts of each key, oldest first: all that are not in a block, and the first and last of those that are.
 * Thousands of included attempts may be waiting for finality.
 */
export async function findOpenAttempts(
  db: Db,
  keys: readonly SenderKey[],
): Promise<Map<SenderKey, Attempt[]>> {
  const open = 'chain_id = k.chain_id and sender = k.sender and final_at is null'
  const mined = `select id from tx_attempts where ${open} and consumed_block is not null order by nonce`
  const { rows } = await db.query<Row>(
    `${SELECT} where id in (
       select o.id from unnest($1::bigint[], $2::text[]) as k (chain_id, sender) cross join lateral (
         select id from tx_attempts where ${open} and consumed_block is null
         union (${mined} limit $3) union (${mined} desc limit $4)) o)
     order by nonce, replacement`,
    [keys.map(({ chainId }) => chainId), keys.map(({ address }) => address), FIRST_MINED, LAST_MINED],
  )
  const found = rows.map(toAttempt)
  const isOf = (key: SenderKey) => (attempt: Attempt) =>
    attempt.chainId === key.chainId && attempt.sender === key.address
  return new Map(keys.map((key) => [key, found.filter(isOf(key))]))
}

export type WithEvent = { chainId: number; ids: readonly string[] }
/** `withEvent`: those of the attempts with a stored event: they are in a block, though it may not be final. */
export type Scanned = { withEvent: ReadonlySet<string>; scannedTo: bigint }

/** Reads how far the events of each chain are stored, and which of these attempts have one. */
export async function findAttemptsWithEvent(
  db: Db,
  asked: readonly WithEvent[],
): Promise<Map<WithEvent, Scanned>> {
  const { rows } = await db.query<{ ids: string[]; scanned: Record<string, string> | null }>(
    `select array(
      select a.id
        from tx_attempts a
        join attempt_swaps l on l.attempt_id = a.id
        join swaps s on s.id = l.swap_id
        join ops o on o.id = s.op_id
        join chain_events e on e.chain_id = a.chain_id and e.tx_hash = a.tx_hash
         and e.id = case l.role when 'deliver' then o.delivery_hash else o.hash end
         and e.kind = case l.role when 'lock' then 'locked' when 'deliver' then 'delivered' when 'claim' then 'claimed'
                                  when 'refund' then 'refunded' end
       where a.id = any($2)
       union
      select a.id
        from tx_attempts a
        join attempt_swaps l on l.attempt_id = a.id and l.role = 'recover'
        join swaps s on s.id = l.swap_id
        join ops o on o.id = s.op_id
        join chain_events e on e.chain_id = a.chain_id and e.kind = 'recovered' and e.tx_hash = a.tx_hash
         and split_part(e.id, '/', 1) = o.hash
       where a.id = any($2)) as ids,
       (select json_object_agg(chain_id, scanned_to::text) from chain_cursors where chain_id = any($1)) as scanned`,
    [asked.map(({ chainId }) => chainId), asked.flatMap(({ ids }) => ids)],
  )
  const withEvent = new Set(rows[0]?.ids)
  const scannedTo = (chainId: number) => BigInt(rows[0]?.scanned?.[chainId] ?? 0)
  return new Map(asked.map((each) => [each, { withEvent, scannedTo: scannedTo(each.chainId) }]))
}

/** SQL of the keys with open attempts, of the chain $1. Keys are few, their attempts many. */
export const OPEN_SENDERS = `with recursive senders as (
       (select sender from tx_attempts where chain_id = $1 and final_at is null order by sender limit 1)
       union all
       select (select a.sender from tx_attempts a
                where a.chain_id = $1 and a.final_at is null and a.sender > s.sender order by a.sender limit 1)
         from senders s where s.sender is not null
     )`

/** Open attempts of all other keys, which no sender follows up. */
export async function findAbandonedAttempts(
  db: Db,
  { chainId, senders }: { chainId: number; senders: readonly string[] },
): Promise<Attempt[]> {
  const { rows } = await db.query<Row>(
    `${OPEN_SENDERS}
     ${SELECT} where chain_id = $1 and final_at is null
        and sender in (select sender from senders where sender <> all($2))`,
    [chainId, senders],
  )
  return rows.map(toAttempt)
}

/** Marks attempts as decided: at this hard-final block they can neither be included nor undone any more. */
export async function markAttemptsFinal(
  db: Db,
  attempts: readonly { id: string }[],
  block: bigint,
): Promise<void> {
  await db.query('update tx_attempts set final_at = clock_timestamp(), final_block = $2 where id = any($1)', [
    attempts.map(({ id }) => id),
    block.toString(),
  ])
}

/** Marks attempts whose nonces are consumed at this block, at settle depth. */
export async function markAttemptsConsumed(
  db: Db,
  attempts: readonly { id: string }[],
  block: bigint,
): Promise<void> {
  await db.query('update tx_attempts set consumed_block = $2 where id = any($1)', [
    attempts.map(({ id }) => id),
    block.toString(),
  ])
}

/** Marks attempts whose nonces a reorg freed. */
export async function markAttemptsReturned(db: Db, attempts: readonly { id: string }[]): Promise<void> {
  await db.query('update tx_attempts set consumed_block = null where id = any($1)', [
    attempts.map(({ id }) => id),
  ])
}

/** Records why every node refused these bytes. They still count as sent. */
export async function markRefused(db: Db, txHash: string, refusal: Refusal): Promise<void> {
  await db.query('update tx_attempts set refusal = $2 where tx_hash = $1 and refusal is distinct from $2', [
    txHash,
    refusal,
  ])
}

/** Whether nodes refused the lock of this swap because of another pending transaction of its wallet. */
export async function wasAuthorityRefused(db: Db, swapId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
      where l.swap_id = $1 and l.role = 'lock' and a.refusal = 'authority' limit 1`,
    [swapId],
  )
  return rowCount === 1
}

type AttemptTally = { total: number; open: number }

/** Per swap: the number of recorded attempts of a role, and how many of them are open at this block. */
export async function tallyAttempts(db: Db, role: Role, swapIds: readonly string[], block: bigint) {
  const { rows } = await db.query<{ swap_id: string; total: string; open: string }>(
    `select l.swap_id, count(distinct (a.sender, a.nonce)) as total, count(*) filter (where ${isOpenAt('$3')}) as open
       from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
      where l.role = $1 and l.swap_id = any($2) group by 1`,
    [role, swapIds, block.toString()],
  )
  const tallies = rows.map(
    (row) => [row.swap_id, { total: Number(row.total), open: Number(row.open) }] as const,
  )
  return new Map<string, AttemptTally>(tallies)
}

export async function findAttemptSwaps(db: Db, attemptId: string): Promise<string[]> {
  const { rows } = await db.query<{ swap_id: string }>(
    'select swap_id from attempt_swaps where attempt_id = $1',
    [attemptId],
  )
  return rows.map((row) => row.swap_id)
}

/** The fields of a swap that decide whether an attempt is still wanted. */
export type AttemptSwap = Pick<Op, 'originChain' | 'destinationChain' | 'refundDeadline'> & {
  state: SwapState
}

/** The swaps of each attempt, by attempt id. */
export async function findSwapsOf(
  db: Db,
  attemptIds: readonly string[],
): Promise<Map<string, AttemptSwap[]>> {
  type Found = Record<'attempt_id' | 'origin_chain' | 'destination_chain' | 'refund_deadline', string>
  const { rows } = await db.query<Found & { state: SwapState }>(
    `select l.attempt_id, s.state, s.origin_chain, s.destination_chain, o.refund_deadline
       from attempt_swaps l join swaps s on s.id = l.swap_id join ops o on o.id = s.op_id
      where l.attempt_id = any($1)`,
    [attemptIds],
  )
  const toSwap = (row: (typeof rows)[number]) => ({
    state: row.state,
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    refundDeadline: Number(row.refund_deadline),
  })
  const groups = groupBy(rows, (row) => row.attempt_id)
  return new Map([...groups].map(([id, group]) => [id, group.map(toSwap)]))
}

function toAttempt(row: Row): Attempt {
  const { request, terms, sentAtBlock, sentAtSeconds } = row.request
  return {
    id: row.id,
    chainId: Number(row.chain_id),
    sender: row.sender,
    nonce: Number(row.nonce),
    replacement: row.replacement,
    role: row.role,
    txHash: row.tx_hash,
    raw: row.raw,
    request,
    terms,
    sentAtBlock: BigInt(sentAtBlock),
    sentAtSeconds,
    isBurn: row.role === 'noop',
    isConsumed: row.consumed_block !== null,
    lastValid: row.last_valid !== null ? BigInt(row.last_valid) : undefined,
  }
}
