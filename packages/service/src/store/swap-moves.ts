import { hourOf } from '../swap/exposure.ts'
import {
  claimableStates,
  nextState,
  publicSubstatus,
  reservingStates,
  type SwapEvent,
  type SwapState,
  unpaidEndStates,
} from '../swap/lifecycle.ts'
import type { Paid } from '../swap/pricing.ts'
import type { AnyFacts, Swap, SwapChange } from '../swap/swap.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { listOf, toJson } from './sql.ts'

const ENDS_UNDELIVERED = `m.state in ${listOf(unpaidEndStates)}`

/** Changes as rows of SQL; the fields of `toRow`. */
const CHANGES = `jsonb_to_recordset($1::jsonb) as c (
  id text, version integer, state text, entry jsonb, origin_tx_hash text, delivery_tx_hash text, refund_tx_hash text,
  credited boolean, delivered numeric, locked_block bigint, delivered_block bigint, failure_code text,
  refund_reason text, proof jsonb, deposit jsonb, frees_inventory boolean, is_paid boolean, frees_claim boolean,
  is_lost boolean, claimed_hour bigint)`

/**
 * The transitions, and the release of exposure, claim bookings and reserved inventory. Rows are locked in the order of
 * their keys, so that batches do not block each other for ever.
 */
const ADVANCE = `
  with held as (
    -- The list of ids makes it use the index: PostgreSQL expects a hundred rows of every function.
    select s.id from swaps s join ${CHANGES} on s.id = c.id and s.version = c.version
     where s.id = any($2) order by s.id for update of s
  ), moved as (
    update swaps s
       set state = c.state, version = s.version + 1,
           updated_at = case when c.entry is null then s.updated_at else clock_timestamp() end,
           locked_block = case when c.state = 'locking' then null else coalesce(c.locked_block, s.locked_block) end,
           delivered_block = coalesce(c.delivered_block, s.delivered_block),
           origin_safe = s.origin_safe and c.state <> 'locking',
           origin_tx_hash = case when c.state = 'locking' then null
                            else coalesce(c.origin_tx_hash, s.origin_tx_hash) end,
           delivery_tx_hash = coalesce(c.delivery_tx_hash, s.delivery_tx_hash),
           refund_tx_hash = coalesce(c.refund_tx_hash, s.refund_tx_hash), credited = coalesce(c.credited, s.credited),
           delivered = coalesce(c.delivered, s.delivered), failure_code = coalesce(c.failure_code, s.failure_code),
           refund_reason = coalesce(c.refund_reason, s.refund_reason), proof = coalesce(c.proof, s.proof),
           deposit = coalesce(c.deposit, s.deposit),
           timeline = case when c.entry is null then s.timeline
                      else s.timeline || jsonb_build_array(c.entry || jsonb_build_object('at', utc_now())) end
      from ${CHANGES} join held h on h.id = c.id
     where s.id = c.id and s.version = c.version
 returning s.id, s.version, s.state, s.op_id, s.lowered_pay, s.origin_chain, s.origin_final, s.exposed_cents,
           s.unclaimed_cents, s.claim_booked, s.input_token, s.input_amount,
           c.frees_inventory, c.is_paid, c.frees_claim, c.is_lost, c.claimed_hour
  ), unexposed as (
    -- A final lock has already freed its exposure; a swap that ends without one frees it here.
    -- A delivery counts as unclaimed until its input is claimed or never will be; a lost one until it is written off.
    update exposure e set cents = e.cents - f.cents, unclaimed_cents = e.unclaimed_cents - f.unclaimed_cents
      from (select m.origin_chain,
                   sum(case when ${ENDS_UNDELIVERED} and not m.origin_final then m.exposed_cents else 0 end) as cents,
                   sum(case when m.frees_claim and not m.is_lost then m.unclaimed_cents else 0 end) as unclaimed_cents
              from moved m
             where ${ENDS_UNDELIVERED} and not m.origin_final or m.frees_claim group by 1) f
     where e.chain_id = f.origin_chain
  ), unbooked as (
    -- The arithmetic of withClaimed in swap/exposure.ts: only claims of the last hour count.
    update claim_books b
       set open = b.open - f.amount,
           claimed = case when f.hour is null or f.hour < b.hour then b.claimed
                          when f.hour = b.hour then b.claimed + f.claimed else f.claimed end,
           hour = greatest(b.hour, f.hour)
      from (select b.chain_id, b.token, f.amount, f.hour, f.claimed
              from (select l.origin_chain, l.input_token, l.hour, sum(l.input_amount) as amount,
                           sum(l.input_amount) filter (where l.claimed_hour = l.hour) as claimed
                      from (select m.origin_chain, m.input_token, m.input_amount, m.claimed_hour,
                                   max(m.claimed_hour) over (partition by m.origin_chain, m.input_token) as hour
                              from moved m where m.frees_claim and m.claim_booked) l
                     group by 1, 2, 3) f
              join claim_books b on b.chain_id = f.origin_chain and b.token = f.input_token
             order by 1, 2 for update of b) f
     where b.chain_id = f.chain_id and b.token = f.token
  ), released as (
    update inventory i set reserved = i.reserved - f.amount, held = i.held - f.paid
      from (select i.chain_id, i.token, f.amount, f.paid
              from (select o.destination_chain, o.pay_token, sum(coalesce(m.lowered_pay, o.pay_amount)) as amount,
                           sum(case when m.is_paid then coalesce(m.lowered_pay, o.pay_amount) else 0 end) as paid
                      from moved m join ops o on o.id = m.op_id where m.frees_inventory group by 1, 2) f
              join inventory i on i.chain_id = f.destination_chain and i.token = f.pay_token
             order by 1, 2 for update of i) f
     where i.chain_id = f.chain_id and i.token = f.token
  )
  select id, version from moved`

export type Change = SwapChange & { swap: Swap }

/**
 * Applies an event to each swap in one statement, and returns those that moved. Only this statement changes states. It
 * also releases reserved inventory and booked caps that are no longer needed. A swap that another worker moved first is
 * absent: read it again.
 */
export async function advanceSwaps(db: Db, changes: readonly Change[]): Promise<Swap[]> {
  const rows = changes.flatMap(toRow)
  if (rows.length === 0) return []
  const { rows: moved } = await db.query<{ id: string; version: number }>(ADVANCE, [
    toJson(rows),
    rows.map(({ id }) => id),
  ])
  const versions = new Map(moved.map(({ id, version }) => [id, version]))
  return changes.flatMap(({ swap, event, ...facts }) => {
    const version = versions.get(swap.id)
    const state = nextState(swap.state, event)
    return version === undefined || state === undefined ? [] : [{ ...withFacts(swap, facts), state, version }]
  })
}

/** Applies one event to a swap. Undefined if another worker moved it first. */
export async function advanceSwap(db: Db, change: Change): Promise<Swap | undefined> {
  const [moved] = await advanceSwaps(db, [change])
  return moved
}

type Together = SwapChange<Extract<SwapEvent, `${string}Recorded`>> & { swaps: readonly Swap[] }

/** Applies one event to all swaps of a transaction. False if any of them has moved: the caller rolls back. */
export async function advanceTogether(db: Db, { swaps, ...change }: Together): Promise<boolean> {
  const moved = await advanceSwaps(
    db,
    swaps.map((swap) => ({ swap, ...change })),
  )
  return moved.length === swaps.length
}

/** Empty if the lifecycle has no such transition: the caller's copy of the swap is stale. */
function toRow({ swap, event, ...recorded }: Change): { id: string }[] {
  const facts: AnyFacts = recorded
  const state = nextState(swap.state, event)
  if (state === undefined) return []
  // Named as in CHANGES.
  const row = {
    id: swap.id,
    version: swap.version,
    state,
    entry: timelineEntry(swap, facts, state),
    origin_tx_hash: facts.originTxHash,
    delivery_tx_hash: facts.deliveryTxHash,
    refund_tx_hash: facts.refundTxHash,
    credited: facts.credited,
    delivered: facts.delivered,
    locked_block: facts.lockedBlock,
    delivered_block: facts.deliveredBlock,
    failure_code: facts.failureCode,
    refund_reason: facts.refundReason,
    proof: facts.proof,
    deposit: facts.deposit,
    frees_inventory: leaves(reservingStates, swap.state, state),
    is_paid: state === 'settled',
    // The input was finally claimed, or never will be.
    frees_claim: leaves(claimableStates, swap.state, state),
    is_lost: event === 'inputLost',
    claimed_hour: facts.claimedBySeconds === undefined ? undefined : hourOf(facts.claimedBySeconds),
  }
  return [row]
}

const leaves = (group: readonly SwapState[], from: SwapState, to: SwapState) =>
  group.includes(from) && !group.includes(to)

/** The timeline shows public substatuses: a transition within one substatus adds no entry. */
function timelineEntry(swap: Swap, facts: AnyFacts, state: SwapState): object | undefined {
  const stage = publicSubstatus(state)
  if (stage === publicSubstatus(swap.state)) return undefined
  const onOrigin = facts.originTxHash ?? facts.refundTxHash
  if (onOrigin) return { stage, chainId: swap.op.originChain, txHash: onOrigin }
  if (!facts.deliveryTxHash) return { stage }
  return { stage, chainId: swap.op.destinationChain, txHash: facts.deliveryTxHash }
}

/** A fact that the event does not tell stays as it was. */
function withFacts(swap: Swap, facts: AnyFacts): Swap {
  return {
    ...swap,
    deposit: facts.deposit ?? swap.deposit,
    originTxHash: facts.originTxHash ?? swap.originTxHash,
    deliveryTxHash: facts.deliveryTxHash ?? swap.deliveryTxHash,
    refundReason: facts.refundReason ?? swap.refundReason,
  }
}

/**
 * Lowers what these swaps are paid, and what is reserved for them, in the transaction that records their lock. False
 * if one of them has moved: the caller rolls back.
 */
export function lowerAmounts(db: Db, swaps: readonly Lowered[]): Promise<boolean> {
  return lower(db, swaps, { condition: 'true', set: '' })
}

export type Lowered = Swap & { lowered?: Paid }

/**
 * The same for swaps that are paid before their lock is final, in the transaction that records their delivery. False
 * also if a lock became final in the meantime, or if the swap was told to wait for that.
 */
export function payFast(db: Db, swaps: readonly Lowered[]): Promise<boolean> {
  return lower(db, swaps, {
    condition: 'not s.origin_final and not s.origin_safe and s.waiting is null',
    set: ', is_paid_fast = true',
  })
}

type Lowering = { condition: string; set: string }

async function lower(db: Db, swaps: readonly Lowered[], { condition, set }: Lowering): Promise<boolean> {
  const lowered = swaps.flatMap(({ id, version, lowered: to }) => (to ? [{ id, version, ...to }] : []))
  if (lowered.length === 0) return true
  const { rows } = await db.query<{ count: number }>(
    `with held as (
       select s.id, o.destination_chain, o.pay_token, v.output, v.pay, ${PAY_AMOUNT} - v.pay as freed
         from unnest($1::text[], $2::int[], $3::numeric[], $4::numeric[]) as v (id, version, output, pay)
         join swaps s on s.id = v.id and s.version = v.version join ops o on o.id = s.op_id
        where ${condition} for update of s
     ), lowered as (
       update swaps s set lowered_output = h.output, lowered_pay = h.pay${set} from held h where s.id = h.id
     ), freed as (
       update inventory i set reserved = i.reserved - f.amount
         from (select destination_chain, pay_token, sum(freed) as amount from held group by 1, 2) f
        where i.chain_id = f.destination_chain and i.token = f.pay_token
     )
     select count(*)::int as count from held`,
    [
      lowered.map(({ id }) => id),
      lowered.map(({ version }) => version),
      lowered.map(({ output }) => output.toString()),
      lowered.map(({ pay }) => pay.toString()),
    ],
  )
  return rows[0]?.count === lowered.length
}
