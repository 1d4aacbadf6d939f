import { deliverableStates, paidStates, refundDueStates, settledStates } from '../model/lifecycle.ts'
import type { Db } from './db.ts'
import { PAY_AMOUNT } from './op-columns.ts'
import { listOf } from './state-lists.ts'

/** The amount that swaps moved of one token on one chain. */
export type Flow = { chainId: number; token: string; amount: bigint }

type Row = { chain_id: string; token: string; amount: string }

const toFlow = (row: Row): Flow => ({
  chainId: Number(row.chain_id),
  token: row.token,
  amount: BigInt(row.amount),
})

/** Inputs of delivered swaps that are still in escrow. */
export async function readToClaim(db: Db): Promise<Flow[]> {
  const { rows } = await db.query<Row>(
    `select origin_chain as chain_id, input_token as token, sum(input_amount) as amount
       from swaps where state in ${listOf(paidStates)} group by 1, 2`,
  )
  return rows.map(toFlow)
}

/** Inputs of all open swaps that are in escrow. */
export async function readInEscrow(db: Db): Promise<Flow[]> {
  const { rows } = await db.query<Row>(
    `select origin_chain as chain_id, input_token as token, sum(input_amount) as amount
       from swaps where state in ${listOf([...deliverableStates, ...paidStates, ...refundDueStates])} group by 1, 2`,
  )
  return rows.map(toFlow)
}

// Uses the times of the event log, so that the cost depends on recent deliveries only. now() instead of
// clock_timestamp(): only a value that is constant in the statement lets the planner skip months and pages.
const DELIVERED_LATELY = `s.state in ${listOf(settledStates)} and s.id in (
  select e.swap_id from swap_events e
   where e.at > now() - make_interval(days => $1) and swap_status(e.state) = 'settled')`

/** Payouts of the vaults for swaps delivered in the last days. */
export async function readPaidOut(db: Db, days: number): Promise<Flow[]> {
  const { rows } = await db.query<Row>(
    `select o.destination_chain as chain_id, o.pay_token as token, sum(${PAY_AMOUNT}) as amount
       from swaps s join ops o on o.id = s.op_id
      where ${DELIVERED_LATELY} group by 1, 2`,
    [days],
  )
  return rows.map(toFlow)
}

/** Inputs of those swaps, claimed or still to be claimed. */
export async function readTakenIn(db: Db, days: number): Promise<Flow[]> {
  const { rows } = await db.query<Row>(
    `select s.origin_chain as chain_id, s.input_token as token, sum(s.input_amount) as amount
       from swaps s where ${DELIVERED_LATELY} group by 1, 2`,
    [days],
  )
  return rows.map(toFlow)
}
