import { type Books, type GasDay, joinBooks, type RouteDay } from '../swap/books.ts'
import { refundedStates } from '../swap/lifecycle.ts'
import type { Db } from './db.ts'
import { listOf } from './sql.ts'

type Balances = { chainId: number; balances: ReadonlyMap<string, bigint>; usdE6Of(amount: bigint): bigint }

/**
 * Books what the balances of sending keys lost since the reading before, and keeps them for the next. A balance that
 * grew was topped up.
 */
export async function bookGas(db: Db, { chainId, balances, usdE6Of }: Balances): Promise<void> {
  const addresses = [...balances.keys()]
  const { rows } = await db.query<{ address: string; balance: string }>(
    'select address, balance from gas_balances where chain_id = $1 and address = any($2)',
    [chainId, addresses],
  )
  const before = new Map(rows.map(({ address, balance }) => [address, BigInt(balance)]))
  const spent = [...balances].map(([address, balance]) => (before.get(address) ?? balance) - balance)
  await db.query(
    `with read as (
       select address, balance, spent, usd_e6 from unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[])
         as n (address, balance, spent, usd_e6)
     ), kept as (
       insert into gas_balances (chain_id, address, balance) select $1, address, balance from read
       on conflict (chain_id, address) do update set balance = excluded.balance
     )
     insert into gas_days as d (day, chain_id, address, amount, usd_e6)
     select (clock_timestamp() at time zone 'UTC')::date, $1, address, spent, usd_e6 from read where spent > 0
     on conflict (day, chain_id, address) do update
        set amount = d.amount + excluded.amount, usd_e6 = d.usd_e6 + excluded.usd_e6`,
    [
      chainId,
      addresses,
      [...balances.values()].map(String),
      spent.map(String),
      spent.map((amount) => String(usdE6Of(amount))),
    ],
  )
}

/** The books of the last days, today included. */
export async function readBooks(db: Db, { days }: { days: number }): Promise<Books & { gas: GasDay[] }> {
  const [routes, gas] = [await readRouteDays(db, days), await readGasDays(db, days)]
  return { ...joinBooks(routes, gas), gas }
}

type GasRow = { day: string; chain_id: string; amount: string; usd_e6: string }

/** Gas by day and chain, of the last days. */
async function readGasDays(db: Db, days: number): Promise<GasDay[]> {
  const { rows } = await db.query<GasRow>(
    `select to_char(day, 'YYYY-MM-DD') as day, chain_id, sum(amount) as amount, sum(usd_e6) as usd_e6
       from gas_days where day > (now() at time zone 'UTC')::date - $1::int group by 1, 2 order by 1, 2`,
    [days],
  )
  return rows.map((row) => ({
    day: row.day,
    chainId: Number(row.chain_id),
    amount: BigInt(row.amount),
    usdE6: BigInt(row.usd_e6),
  }))
}

type RouteRow = {
  day: string
  origin_chain: string
  destination_chain: string
  input_token: string
  output_token: string
  settled: number
  refunded: number
  accounts: number
  volume: string
  earned: string
}

/**
 * Ended swaps by day and route, of the last days, as far as the event log reaches. Earned is the part of the input that
 * was kept for fee and costs, at the value of the quote, without what is owed to the account.
 */
async function readRouteDays(db: Db, days: number): Promise<RouteDay[]> {
  const { rows } = await db.query<RouteRow>(
    `with ended as (
       select swap_id, min(at) as at from swap_events
        where at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => $1 - 1)
          and state in ${listOf(['settled', ...refundedStates])}
        group by 1
     )
     select to_char(e.at at time zone 'UTC', 'YYYY-MM-DD') as day, s.origin_chain, s.destination_chain, o.input_token,
            o.output_token, count(*) filter (where k.is_settled)::int as settled,
            count(*) filter (where not k.is_settled)::int as refunded,
            count(*) filter (where k.is_settled and o.creates_account)::int as accounts,
            coalesce(sum(o.value_cents) filter (where k.is_settled), 0) as volume,
            coalesce(sum(div(o.value_cents * 10000 * (o.input_amount - o.swappable - o.integrator_fee),
                         o.input_amount))
                     filter (where k.is_settled), 0) as earned
       from ended e
       join swaps s on s.id = e.swap_id
       join ops o on o.id = s.op_id
      cross join lateral (select swap_status(s.state) = 'settled' as is_settled) k
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`,
    [days],
  )
  return rows.map((row) => ({
    day: row.day,
    originChain: Number(row.origin_chain),
    destinationChain: Number(row.destination_chain),
    inputToken: row.input_token,
    outputToken: row.output_token,
    settled: row.settled,
    refunded: row.refunded,
    accounts: row.accounts,
    volumeCents: BigInt(row.volume),
    earnedE6: BigInt(row.earned),
  }))
}
