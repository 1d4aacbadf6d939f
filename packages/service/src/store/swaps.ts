import type { Waiting } from '@geoswap/wire'
import { owedStates, paidStates, unlockedStates } from '../swap/lifecycle.ts'
import type { Swap } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { IS_OPEN, isUnconsumedAt, listOf, toJson } from './sql.ts'
import { selectSwaps } from './swap-rows.ts'

const NO_LOCK = 's.locked_block is null and not s.origin_final and s.origin_chain = $1'

/** SQL conditions of swaps `s` and ops `o` that the watch of the chain $1 looks for. */
export const WATCHED = {
  /** In the words of the index `swaps_unlocked`. */
  unlocked: `${NO_LOCK} and s.state in ${listOf([...unlockedStates, ...owedStates])}`,
  paidUnlocked: `${NO_LOCK} and s.state in ${listOf(paidStates)} and s.delivery_final`,
  /** $2: a time of the chain. */
  undeposited: `s.state = 'awaitingDeposit' and s.origin_chain = $1 and o.op_deadline < $2`,
  /** In the words of the index `swaps_undelivered`. */
  undelivered: `s.delivered_block is null and not s.delivery_final and s.state in ${listOf(owedStates)}
    and s.destination_chain = $1`,
  forgotten: `s.state = 'locked' and s.log_lost and s.destination_chain = $1`,
}

/** Swaps of this origin whose lock is in no known block. */
export async function findUnlocked(db: Db, chainId: number): Promise<Swap[]> {
  return selectSwaps(db, `where ${WATCHED.unlocked} order by s.created_at`, [chainId])
}

/** Those of them that were delivered for good. */
export async function findPaidUnlocked(db: Db, chainId: number): Promise<Swap[]> {
  return selectSwaps(db, `where ${WATCHED.paidUnlocked} order by s.created_at`, [chainId])
}

type Page = { chainId: number; after: string | undefined; limit: number }

/** Swaps whose input was not deposited yet, in the words of the index `swaps_awaiting`. */
export async function findAwaiting(db: Db, { chainId, after = '', limit }: Page): Promise<Swap[]> {
  const isNext = `where s.state = 'awaitingDeposit' and s.origin_chain = $1 and s.id > $2 order by s.id limit $3`
  return selectSwaps(db, isNext, [chainId, after, limit])
}

/** Swaps whose input was not deposited until their deadline, which was before this time. */
export async function findUndeposited(db: Db, { chainId, seconds }: { chainId: number; seconds: number }) {
  return selectSwaps(db, `where ${WATCHED.undeposited}`, [chainId, seconds])
}

/** Swaps that may have been delivered here but in no known block. */
export async function findUndelivered(db: Db, chainId: number): Promise<Swap[]> {
  return selectSwaps(db, `where ${WATCHED.undelivered}`, [chainId])
}

/** Locked swaps for which an unrecorded delivery may have been signed. */
export async function findForgottenDeliveries(db: Db, chainId: number): Promise<Swap[]> {
  return selectSwaps(db, `where ${WATCHED.forgotten}`, [chainId])
}

type OpenAfter = { chainId: number; after: string; limit: number }

/** Open swaps of this origin in the order of their ids, after a given one. */
export async function findOpenAfter(db: Db, { chainId, after, limit }: OpenAfter): Promise<Swap[]> {
  const clause = `where s.${IS_OPEN} and s.origin_chain = $1 and s.id > $2 order by s.id limit $3`
  return selectSwaps(db, clause, [chainId, after, limit])
}

export async function findSwapsByOp(db: Db, hashes: readonly string[]): Promise<Swap[]> {
  return hashes.length === 0 ? [] : selectSwaps(db, 'where o.hash = any($1)', [hashes])
}

export async function findSwapsByDelivery(db: Db, hashes: readonly string[]): Promise<Swap[]> {
  return hashes.length === 0 ? [] : selectSwaps(db, 'where o.delivery_hash = any($1)', [hashes])
}

type ToLock = { chainId: number; locker: string; limit: number }

/**
 * Accepted swaps for this locker, round-robin by account, destination and token, so that an unavailable chain or a
 * token without claim room does not block others.
 */
export async function findToLock(db: Db, { chainId, locker, limit }: ToLock): Promise<Swap[]> {
  const mine = `s.state = 'accepted' and not s.log_lost and s.origin_chain = $2 and s.locker = $3`
  const turns = roundRobin('s.account_id, s.destination_chain, s.input_token', mine)
  return selectSwaps(db, turns, [limit, chainId, locker])
}

/** Locked swaps without a delivery, round-robin by account and origin, since some wait long for finality. */
export async function findToDeliver(db: Db, lane: { chainId: number; limit: number }): Promise<Swap[]> {
  const locked = `s.state = 'locked' and not s.log_lost and s.destination_chain = $2`
  return selectSwaps(db, roundRobin('s.account_id, s.origin_chain', locked), [lane.limit, lane.chainId])
}

/** Takes the oldest of each group, then the second of each, so that a large group delays only itself. */
function roundRobin(group: string, condition: string): string {
  const turns = `row_number() over (partition by ${group} order by s.created_at), s.created_at`
  // Selects ids before joining ops: there may be thousands of candidates, of which few are needed.
  const chosen = `select s.id from swaps s where ${condition} order by ${turns} limit $1`
  return `where s.id = any(array(${chosen})) order by ${turns}`
}

/** The blocks up to which attempts count as decided: `hard` for good, `settle` unless a reorg follows. */
export type Stalled = { chainId: number; hard: bigint; settle: bigint }

/**
 * Swaps of these lockers that need another lock: they wait for a lock, or were delivered before theirs was final. As of
 * these blocks, none of their signed locks can still take effect.
 */
export async function findStalledLocks(
  db: Db,
  lanes: Stalled & { lockers: readonly string[] },
): Promise<Swap[]> {
  const states = listOf(['locking', 'delivering', 'settled'])
  const waiting = `s.state in ${states} and not s.origin_final and s.locked_block is null`
  const mine = `${waiting} and not s.log_lost and s.origin_chain = $1 and s.locker = any($4)`
  const values = [lanes.chainId, lanes.hard.toString(), lanes.settle.toString(), lanes.lockers]
  return selectSwaps(db, `where ${mine} and ${noOpen('lock')}`, values)
}

/**
 * Swaps that need another delivery on this chain: as of these blocks, none of the signed ones can still take effect.
 */
export async function findStalledDeliveries(db: Db, { chainId, hard, settle }: Stalled): Promise<Swap[]> {
  const states = `(s.state in ${listOf(paidStates)} or s.state = 'delivering' and not s.log_lost)`
  const unseen = 's.delivered_block is null and not s.delivery_final'
  const clause = `where ${states} and ${unseen} and s.destination_chain = $1 and ${noOpen('deliver')}`
  return selectSwaps(db, clause, [chainId, hard.toString(), settle.toString()])
}

/** SQL condition: all nonces of the swap's attempts are consumed, as of the `hard` and `settle` blocks. */
function noOpen(role: 'lock' | 'deliver'): string {
  return `not exists (select 1 from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
                       where l.swap_id = s.id and l.role = '${role}' and ${isUnconsumedAt('$2', '$3')})`
}

/** Swaps of which only the input is known, until their outcome is decided. */
export async function findOrphans(db: Db, chainId: number): Promise<Swap[]> {
  return selectSwaps(db, `where o.is_orphan and s.state = 'delivering' and s.origin_chain = $1`, [chainId])
}

export async function findOpenSwaps(db: Db): Promise<Swap[]> {
  return selectSwaps(db, `where s.${IS_OPEN} order by s.created_at`, [])
}

export async function findSwaps(db: Db, ids: readonly string[]): Promise<Swap[]> {
  return ids.length === 0 ? [] : selectSwaps(db, 'where s.id = any($1)', [ids])
}

const PROPOSED_AT_ONCE = 200

type Proposing = { kind: 'claim' | 'refund'; chainId: number }

/** Swaps of this origin whose outcome is not proposed to the attesters yet, round-robin by destination. */
export async function findToPropose(db: Db, { kind, chainId }: Proposing): Promise<Swap[]> {
  const isDue = isToPropose(kind, '$2')
  return selectSwaps(db, roundRobin('s.destination_chain', isDue), [PROPOSED_AT_ONCE, chainId])
}

/** SQL condition of these swaps. */
export function isToPropose(kind: Proposing['kind'], chainId: string): string {
  const ready =
    kind === 'claim'
      ? `s.state in ${listOf(paidStates)} and s.origin_final and s.delivery_final and (s.state = 'settled' or (
           select a.id from attempt_swaps l join attestations a on a.attempt_id = l.attempt_id
            where l.swap_id = s.id and l.role = 'claim' limit 1) is null)`
      : `s.origin_final and (s.state in ${listOf(['refundDecided', 'refundBlocked'])} or (s.state = 'refunding'
           and ${attestations('true')} = 0))`
  return `s.origin_chain = ${chainId} and ${ready} and ${attestations('a.attempt_id is null')} = 0`
}

/** A count uses the index by swap. For `exists`, PostgreSQL expects an early hit and scans the whole table. */
function attestations(condition: string): string {
  return `(select count(*) from attestations a where a.swap_ids @> array[s.id] and ${condition})`
}

/** Whether no swap has changed since it was read. Locks the rows until the transaction ends. */
export async function areUnmoved(db: Db, swaps: readonly Swap[]): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from swaps s join unnest($1::text[], $2::int[]) as m (id, version)
         on s.id = m.id and s.version = m.version for update of s`,
    [swaps.map((swap) => swap.id), swaps.map((swap) => swap.version)],
  )
  return rows.length === swaps.length
}

type Delivered = { id: string; deliveryTxHash: string }

/** Records that deliveries are final. Repeatable. */
export async function markDeliveriesFinal(db: Db, swaps: readonly Delivered[]): Promise<void> {
  await db.query(
    `with held as (
       select s.id, d.tx_hash from unnest($1::text[], $2::text[]) as d (id, tx_hash)
         join swaps s on s.id = d.id and not s.delivery_final order by s.id for update of s
     )
     update swaps s set delivery_final = true, delivery_tx_hash = h.tx_hash from held h where s.id = h.id`,
    [swaps.map(({ id }) => id), swaps.map(({ deliveryTxHash }) => deliveryTxHash)],
  )
}

/** Notes why a swap waits for finality. It changes nothing else. */
export async function setWaiting(db: Db, { id }: Swap, waiting: Waiting): Promise<void> {
  await db.query('update swaps set waiting = $2 where id = $1 and waiting is distinct from $2', [
    id,
    toJson(waiting),
  ])
}

/** Records that the lock of a delivered swap is in a block again. */
export async function setLockedBlock(db: Db, { id }: Swap, block: bigint): Promise<void> {
  await db.query('update swaps set locked_block = $2 where id = $1', [id, block.toString()])
}

/** Records that the delivery of a settled swap is in a block again, perhaps by another transaction. */
export async function setDeliveredBlock(
  db: Db,
  { id }: Swap,
  { block, txHash }: { block: bigint; txHash: string },
): Promise<void> {
  await db.query(
    `update swaps set delivered_block = $2, delivery_tx_hash = $3,
            updated_at = case when delivery_tx_hash = $3 then updated_at else clock_timestamp() end
      where id = $1 and not delivery_final`,
    [id, block.toString(), txHash],
  )
}

/** Updates the delivery hash after a reorg moved the delivery to another transaction. The status stays. */
export async function setDeliveryTxHash(db: Db, swaps: readonly { id: string }[], txHash: string) {
  const { rowCount } = await db.query(
    `update swaps set delivery_tx_hash = $2, updated_at = clock_timestamp() where id = any($1)`,
    [swaps.map((swap) => swap.id), txHash],
  )
  return rowCount === swaps.length
}
