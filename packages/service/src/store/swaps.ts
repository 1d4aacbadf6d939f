import { groupBy } from '../model/group.ts'
import { nextState, publicSubstatus, type SwapEvent, type SwapState } from '../model/lifecycle.ts'
import type { FailureCode, RefundReason } from '../model/outcome.ts'
import type { Op, SignedDelegation, Swap } from '../model/swap.ts'
import type { Db } from './db.ts'
import { isOpenAt, isUnconsumedAt } from './open-at.ts'
import { IS_OPEN } from './open-states.ts'

type Row = {
  id: string
  state: SwapState
  version: number
  op_id: string
  hash: string
  delivery_hash: string
  origin_chain: string
  destination_chain: string
  wallet: string
  input_token: string
  input_amount: string
  output_token: string
  quoted_output: string
  min_output: string
  swappable: string
  price_floor: string
  venue: string
  pay_token: string
  pay_amount: string
  recipient: string
  locker: string
  position: string
  round: string
  op_deadline: string
  fill_deadline: string
  refund_deadline: string
  value_cents: string
  lock_fee_bound: string
  delivery_fee_bound: string
  origin_block: string
  destination_block: string
  creates_account: boolean
  is_orphan: boolean
  log_lost: boolean
  signature: string
  last_valid: string | null
  delegation: SignedDelegation | null
  origin_tx_hash: string | null
  delivery_tx_hash: string | null
  origin_final: boolean
  delivery_final: boolean
  exposed_cents: string
  refund_reason: RefundReason | null
}

const SELECT = `
  select s.id, s.state, s.version, s.op_id, o.hash, o.delivery_hash, s.origin_chain,
         s.destination_chain, s.wallet, s.input_token, s.input_amount, o.output_token, o.quoted_output,
         o.min_output, o.swappable, o.price_floor, o.venue, o.pay_token, o.pay_amount, o.recipient, o.locker,
         o.position, o.round,
         o.op_deadline, o.fill_deadline, o.refund_deadline, o.value_cents, o.origin_block, o.destination_block,
         o.lock_fee_bound, o.delivery_fee_bound,
         o.creates_account, o.is_orphan, s.log_lost, s.signature, s.last_valid, s.delegation,
         s.origin_tx_hash, s.delivery_tx_hash, s.origin_final, s.delivery_final, s.exposed_cents,
         s.refund_reason
    from swaps s join ops o on o.id = s.op_id`

/** Swaps whose input is on this chain and whose story is not over. */
export async function findOpenByOrigin(db: Db, chainId: number): Promise<Swap[]> {
  return select(db, `where s.${IS_OPEN} and s.origin_chain = $1 order by s.created_at`, [chainId])
}

/** Swaps that were or may be delivered on this chain, until that delivery is hard-final. */
export async function findOpenByDestination(db: Db, chainId: number): Promise<Swap[]> {
  const states = `s.state in ('locked', 'delivering', 'settled', 'claiming')`
  return select(db, `where ${states} and not s.delivery_final and s.destination_chain = $1`, [chainId])
}

type ToLock = { chainId: number; locker: string; limit: number }

/** Accepted swaps that only this locker may lock, accounts and destinations in turn: those to a silent chain wait. */
export async function findToLock(db: Db, { chainId, locker, limit }: ToLock): Promise<Swap[]> {
  const mine = `s.state = 'accepted' and not s.log_lost and s.origin_chain = $2 and s.locker = $3`
  return select(db, inTurn('s.account_id, s.destination_chain', mine), [limit, chainId, locker])
}

/** Locked swaps that wait for their first delivery, accounts and origins in turn: some wait for finality, for long. */
export async function findToDeliver(db: Db, lane: { chainId: number; limit: number }): Promise<Swap[]> {
  const locked = `s.state = 'locked' and not s.log_lost and s.destination_chain = $2`
  return select(db, inTurn('s.account_id, s.origin_chain', locked), [lane.limit, lane.chainId])
}

/** The oldest of each group, then the next of each: a group of which thousands wait holds up nobody but itself. */
function inTurn(group: string, condition: string): string {
  const turns = `row_number() over (partition by ${group} order by s.created_at), s.created_at`
  // Chosen before they are joined with their ops: there may be thousands, of which few are wanted.
  const chosen = `select s.id from swaps s where ${condition} order by ${turns} limit $1`
  return `where s.id = any(array(${chosen})) order by ${turns}`
}

/** The blocks at which attempts count as decided: for good, and until a reorg. */
type Stalled = { chainId: number; hard: bigint; settle: bigint }

/**
 * Swaps that wait for a lock, or are paid for while theirs is not final, none of whose signed locks can do anything by
 * these blocks, and which only this locker may lock.
 */
export async function findStalledLocks(db: Db, lane: Stalled & { locker: string }): Promise<Swap[]> {
  const mine = 'not s.log_lost and s.origin_chain = $1 and s.locker = $4'
  const waiting = `s.state = 'locking' and ${mine}`
  const paid = `s.state in ('delivering', 'settled') and not s.origin_final and ${mine}`
  const values = [lane.chainId, lane.hard.toString(), lane.settle.toString(), lane.locker]
  return select(db, stalled('lock', waiting, paid), values)
}

/** Swaps that are owed a delivery on this chain while none of the signed ones can do anything by these blocks. */
export async function findStalledDeliveries(db: Db, { chainId, hard, settle }: Stalled): Promise<Swap[]> {
  const mine = 'not s.delivery_final and s.destination_chain = $1'
  const waiting = `s.state = 'delivering' and not s.log_lost and ${mine}`
  const told = `s.state in ('settled', 'claiming') and ${mine}`
  return select(db, stalled('deliver', waiting, told), [chainId, hard.toString(), settle.toString()])
}

/**
 * Every nonce is consumed. For a swap that waits for the effect that is enough at settle depth. One that had it counts
 * when a reorg gave a nonce back since, or all of them are final.
 */
function stalled(role: 'lock' | 'deliver', waiting: string, done: string): string {
  const attempts = `attempt_swaps l join tx_attempts a on a.id = l.attempt_id`
  const none = (open: string) =>
    `not exists (select 1 from ${attempts} where l.swap_id = s.id and l.role = '${role}' and ${open})`
  const [isUnconsumed, isOpen] = [isUnconsumedAt('$2', '$3'), isOpenAt('$2')]
  const returned = `select l.swap_id from ${attempts} where a.returned and a.chain_id = $1 and l.role = '${role}'`
  return `where s.id = any(array(
    select s.id from swaps s where ${waiting} and ${none(isUnconsumed)}
     union select s.id from swaps s where ${done} and s.id in (${returned}) and ${none(isUnconsumed)}
     union select s.id from swaps s where ${done} and ${none(isOpen)}))`
}

/** Swaps of which only the input is known, until it is decided what becomes of them. */
export async function findOrphans(db: Db, chainId: number): Promise<Swap[]> {
  return select(db, `where o.is_orphan and s.state = 'delivering' and s.origin_chain = $1`, [chainId])
}

/** Every swap whose story is not over. */
export async function findOpenSwaps(db: Db): Promise<Swap[]> {
  return select(db, `where s.${IS_OPEN} order by s.created_at`, [])
}

export async function findSwaps(db: Db, ids: readonly string[]): Promise<Swap[]> {
  return ids.length === 0 ? [] : select(db, 'where s.id = any($1)', [ids])
}

const ATTESTED_AT_ONCE = 200

/**
 * Swaps whose outcome the attester has not signed yet, with the chain facts it is asked to verify. Routes in turn: of
 * one whose chain is silent nothing can be signed, however much waits.
 */
export async function findToAttest(db: Db, kind: 'claim' | 'refund'): Promise<Swap[]> {
  const ready =
    kind === 'claim'
      ? `s.state in ('settled', 'claiming') and s.origin_final and s.delivery_final and (s.state = 'settled' or (
           select a.id from attempt_swaps l join attestations a on a.attempt_id = l.attempt_id
            where l.swap_id = s.id and l.role = 'claim' limit 1) is null)`
      : `s.origin_final and (s.state in ('refundDecided', 'refundBlocked') or (s.state = 'refunding'
           and ${attestations('true')} = 0))`
  const route = 's.origin_chain, s.destination_chain'
  const isPending = `${attestations('a.attempt_id is null')} = 0`
  return select(db, inTurn(route, `${ready} and ${isPending}`), [ATTESTED_AT_ONCE])
}

/** Counted, which reads the index by swap. For an `exists` PostgreSQL expects a hit soon, and reads the whole table. */
function attestations(condition: string): string {
  return `(select count(*) from attestations a where a.swap_ids @> array[s.id] and ${condition})`
}

async function select(db: Db, clause: string, values: unknown[]): Promise<Swap[]> {
  const { rows } = await db.query<Row>(`${SELECT} ${clause}`, values)
  return rows.map(toSwap)
}

export type Change = {
  swap: Swap
  event: SwapEvent
  originTxHash?: string
  deliveryTxHash?: string
  refundTxHash?: string
  lockedBlock?: bigint
  credited?: boolean
  delivered?: bigint
  failureCode?: FailureCode
  refundReason?: RefundReason
  /** What the chain showed; required for `failed` and for the decision to refund. */
  proof?: object
}

/**
 * Moves a swap on by one event: beside `advanceTogether` the only function that changes a state. The liquidity
 * reserved for it is released in the same statement when it will not be needed any more. Undefined means that
 * another worker moved it first: read it again.
 */
export async function advanceSwap(db: Db, change: Change): Promise<Swap | undefined> {
  const { swap, event } = change
  const state = nextState(swap.state, event)
  if (state === undefined) return undefined
  const { rows } = await db.query<{ version: number }>(ADVANCE, [
    swap.id,
    swap.version,
    state,
    change.originTxHash,
    change.deliveryTxHash,
    change.refundTxHash,
    change.credited,
    change.delivered?.toString(),
    change.failureCode,
    change.refundReason,
    change.proof && toJson(change.proof),
    timelineEntry(change, state),
    releasesReservation(swap.state, state),
    state === 'settled',
    change.lockedBlock?.toString(),
  ])
  const row = rows[0]
  return row && { ...swap, state, version: row.version, ...namedOf(change) }
}

type Together = { swaps: readonly Swap[]; event: SwapEvent; deliveryTxHash?: string }

/** Moves swaps on that one transaction carries. False when any of them has moved: the caller rolls back. */
export async function advanceTogether(db: Db, { swaps, event, deliveryTxHash }: Together): Promise<boolean> {
  for (const group of groupBy(swaps, (swap) => swap.state).values()) {
    const [first] = group
    const state = first && nextState(first.state, event)
    if (!first || state === undefined) return false
    const named = { swap: first, event, ...(deliveryTxHash && { deliveryTxHash }) }
    const { rowCount } = await db.query(ADVANCE_TOGETHER, [
      group.map((swap) => swap.id),
      group.map((swap) => swap.version),
      state,
      deliveryTxHash,
      timelineEntry(named, state),
    ])
    if (rowCount !== group.length) return false
  }
  return true
}

const ADVANCE_TOGETHER = `
  update swaps s
     set state = $3, version = s.version + 1,
         updated_at = case when $5::jsonb is null then s.updated_at else clock_timestamp() end,
         delivery_tx_hash = coalesce($4, s.delivery_tx_hash),
         timeline = case when $5::jsonb is null then s.timeline
                    else s.timeline || jsonb_build_array($5::jsonb || jsonb_build_object('at', utc_now())) end
    from unnest($1::text[], $2::int[]) as m (id, version)
   where s.id = m.id and s.version = m.version`

const ADVANCE = `
  with moved as (
    update swaps
       set state = $3, version = version + 1,
           updated_at = case when $12::jsonb is null then updated_at else clock_timestamp() end,
           locked_block = coalesce($15, locked_block),
           origin_tx_hash = case when state = 'locked' and $3 = 'locking' then null
                                 else coalesce($4, origin_tx_hash) end,
           delivery_tx_hash = coalesce($5, delivery_tx_hash),
           refund_tx_hash = coalesce($6, refund_tx_hash), credited = coalesce($7, credited),
           delivered = coalesce($8, delivered), failure_code = coalesce($9, failure_code),
           refund_reason = coalesce($10, refund_reason), proof = coalesce($11, proof),
           timeline = case when $12::jsonb is null then timeline
                      else timeline || jsonb_build_array($12::jsonb || jsonb_build_object('at', utc_now())) end
     where id = $1 and version = $2
 returning version, op_id, origin_chain, origin_final, exposed_cents
  ), unexposed as (
    -- A final lock gave its exposure back already; one that ends without it does so here.
    update exposure e set cents = e.cents - m.exposed_cents
      from moved m
     where $3 in ('failed', 'refunded') and not m.origin_final and e.chain_id = m.origin_chain
  ), released as (
    update inventory i
       set reserved = i.reserved - o.pay_amount,
           held = case when $14::boolean then i.held - o.pay_amount else i.held end
      from moved m join ops o on o.id = m.op_id
     where $13::boolean and i.chain_id = o.destination_chain and i.token = o.pay_token
  )
  select version from moved`

const reserving: readonly SwapState[] = ['accepted', 'locking', 'locked', 'delivering']

function releasesReservation(from: SwapState, to: SwapState): boolean {
  return reserving.includes(from) && !reserving.includes(to)
}

/** The timeline tells what a caller can see: a move between states of one substatus adds nothing. */
function timelineEntry({ swap, event, ...change }: Change, state: SwapState): string | null {
  const stage = publicSubstatus(state)
  if (stage === publicSubstatus(swap.state)) return null
  const onOrigin = change.originTxHash ?? change.refundTxHash
  if (onOrigin) return toJson({ stage, chainId: swap.op.originChain, txHash: onOrigin })
  if (!change.deliveryTxHash) return toJson({ stage })
  return toJson({ stage, chainId: swap.op.destinationChain, txHash: change.deliveryTxHash })
}

/** JSON of a proof or a request: bigints as decimal text. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? field.toString() : field))
}

function namedOf(change: Change): Partial<Swap> {
  return {
    ...(change.originTxHash && { originTxHash: change.originTxHash }),
    ...(change.deliveryTxHash && { deliveryTxHash: change.deliveryTxHash }),
    ...(change.refundReason && { refundReason: change.refundReason }),
  }
}

/** Whether all of these are as they were read. Nobody else moves them before the transaction ends. */
export async function areUnmoved(db: Db, swaps: readonly Swap[]): Promise<boolean> {
  const { rows } = await db.query(
    `select 1 from swaps s join unnest($1::text[], $2::int[]) as m (id, version)
         on s.id = m.id and s.version = m.version for update of s`,
    [swaps.map((swap) => swap.id), swaps.map((swap) => swap.version)],
  )
  return rows.length === swaps.length
}

/** Notes that the delivery can no longer be undone. Repeatable. */
export async function markDeliveryFinal(db: Db, swap: { id: string; deliveryTxHash: string }): Promise<void> {
  await db.query(
    `update swaps set delivery_final = true, delivery_tx_hash = $2
      where id = $1 and not delivery_final`,
    [swap.id, swap.deliveryTxHash],
  )
}

/** A reorg may put a delivery into another transaction: the status stays, the hash follows the chain. */
export async function setDeliveryTxHash(db: Db, swaps: readonly { id: string }[], txHash: string) {
  const { rowCount } = await db.query(
    `update swaps set delivery_tx_hash = $2, updated_at = clock_timestamp() where id = any($1)`,
    [swaps.map((swap) => swap.id), txHash],
  )
  return rowCount === swaps.length
}

function toSwap(row: Row): Swap {
  return {
    id: row.id,
    state: row.state,
    version: row.version,
    op: toOp(row),
    signature: row.signature,
    ...(row.last_valid !== null && { lastValid: BigInt(row.last_valid) }),
    ...(row.delegation && { delegation: row.delegation }),
    ...(row.origin_tx_hash && { originTxHash: row.origin_tx_hash }),
    ...(row.delivery_tx_hash && { deliveryTxHash: row.delivery_tx_hash }),
    originFinal: row.origin_final,
    deliveryFinal: row.delivery_final,
    exposedCents: BigInt(row.exposed_cents),
    ...(row.refund_reason && { refundReason: row.refund_reason }),
  }
}

function toOp(row: Row): Op {
  return {
    id: row.op_id,
    hash: row.hash,
    deliveryHash: row.delivery_hash,
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    wallet: row.wallet,
    inputToken: row.input_token,
    inputAmount: BigInt(row.input_amount),
    outputToken: row.output_token,
    quotedOutput: BigInt(row.quoted_output),
    minOutput: BigInt(row.min_output),
    swappable: BigInt(row.swappable),
    venue: row.venue,
    payToken: row.pay_token,
    payAmount: BigInt(row.pay_amount),
    priceFloor: BigInt(row.price_floor),
    recipient: row.recipient,
    createsAccount: row.creates_account,
    locker: row.locker,
    position: BigInt(row.position),
    round: BigInt(row.round),
    opDeadline: Number(row.op_deadline),
    fillDeadline: Number(row.fill_deadline),
    refundDeadline: Number(row.refund_deadline),
    valueCents: BigInt(row.value_cents),
    lockFeeBound: BigInt(row.lock_fee_bound),
    deliveryFeeBound: BigInt(row.delivery_fee_bound),
    originBlock: BigInt(row.origin_block),
    destinationBlock: BigInt(row.destination_block),
    ...(row.is_orphan && { isOrphan: true }),
    ...(row.log_lost && { isLogLost: true }),
  }
}
