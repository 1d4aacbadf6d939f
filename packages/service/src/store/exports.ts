import type { Pool } from 'pg'
import type { PriceE18 } from '../swap/amount.ts'
import type { Db } from './db.ts'

/** From the first moment to before the second. */
export type Period = { from: Date; to: Date }

const PAGE = 1_000

/** Rows in pages, as of one moment: never all of them in memory. */
async function* streamPages<Row extends object>(
  pool: Pool,
  sql: string,
  values: unknown[],
): AsyncGenerator<Row[]> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    // The reader of the export may be slow.
    await client.query(
      `select set_config(name, '0', true)
         from unnest('{statement_timeout, idle_in_transaction_session_timeout}'::text[]) as name`,
    )
    await client.query(`declare exported no scroll cursor for ${sql}`, values)
    for (;;) {
      const { rows } = await client.query<Row>(`fetch ${PAGE} from exported`)
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** A line of an audit: names of columns and their values. Amounts are text, in the smallest unit of their token. */
export type AuditRow = { record: string; time: Date } & Record<string, unknown>

const SWAPS = `
  select 'swap' as record, s.created_at as time, s.id as "swapId", s.account_id as "accountId",
         swap_status(s.state) as status, s.state, o.method, o.wallet, o.recipient,
         o.deposit_address as "depositAddress", s.deposit_senders as "depositSenders",
         o.origin_chain as "originChain", o.input_token as "inputToken", o.input_amount as "inputAmount",
         o.destination_chain as "destinationChain", o.output_token as "outputToken",
         o.quoted_output as "quotedOutput", s.delivered, o.integrator_fee as "integratorFee",
         to_char(o.value_cents / 100.0, 'FM99999999999999990.00') as usd,
         s.deposit ->> 'txHash' as "depositTxHash", s.origin_tx_hash as "originTxHash",
         s.delivery_tx_hash as "deliveryTxHash", s.refund_tx_hash as "refundTxHash",
         (select min(m.source) from ledger_movements m where m.swap_id = s.id and m.kind = 'claimed')
           as "claimTxHash",
         s.failure_code as "failureCode", s.refund_reason as "refundReason"
    from swaps s join ops o on o.id = s.op_id
   where s.created_at >= $1 and s.created_at < $2 order by s.created_at, s.id`

const DECISIONS = `
  select record, at as time, swap_id as "swapId", account_id as "accountId", point, role, verdict, address,
         chain_id as "chainId", reason, list, version, author
    from (select 'denial' as record, id, at, swap_id, account_id, point, role, 'deny' as verdict, address, chain_id,
                 reason, list, version, null as author from screening_denials
          union all
          select 'override', id, at, null, null, null, null, verdict, address, null, reason, null, null, author
            from screening_overrides
          union all
          select 'freeze', id, at, null, null, null, 'wallet', case when is_frozen then 'frozen' else 'unfrozen' end,
                 wallet, null, reason, null, null, author from wallet_freezes) d
   where at >= $1 and at < $2 order by at, record, id`

/** The swaps that were submitted in this time, and then what was denied and decided, each the first before. */
export async function* streamAudit(pool: Pool, { from, to }: Period): AsyncGenerator<AuditRow[]> {
  yield* streamPages<AuditRow>(pool, SWAPS, [from, to])
  yield* streamPages<AuditRow>(pool, DECISIONS, [from, to])
}

/** The sum that moved on one day (UTC) from one account of the ledger into another. */
export type DayMovement = {
  day: string
  chainId: number
  kind: string
  /** Undefined for the coin that gas is paid in. */
  token: string | undefined
  debit: string
  credit: string
  amount: bigint
  /** In millionths, at the moment of each movement, if that is known. */
  usdE6: bigint | undefined
}

type MovementRow = Omit<DayMovement, 'chainId' | 'token' | 'amount' | 'usdE6'> & {
  chain_id: string
  token: string | null
  amount: string
  usd_e6: string | null
}

const MOVEMENTS = `
  select to_char(day, 'YYYY-MM-DD') as day, chain_id, kind, token, debit, credit, amount, usd_e6
    from (select (booked_at at time zone 'UTC')::date as day, chain_id, kind, token, debit, credit,
                 sum(amount) as amount, null::numeric as usd_e6
            from ledger_movements where booked_at >= $1 and booked_at < $2 group by 1, 2, 3, 4, 5, 6
          union all
          select day, chain_id, 'gas', null, 'gas', 'network', sum(amount), sum(usd_e6)
            from gas_days where day >= ($1::timestamptz at time zone 'UTC')::date
             and day < ($2::timestamptz at time zone 'UTC')::date and chain_id = any($3::bigint[])
           group by 1, 2) m
   where amount > 0 order by day, chain_id, kind, token, debit, credit`

/** `gasChains`: those whose gas is not in the ledger, but in the gas of each day. */
export async function* streamMovements(
  pool: Pool,
  { from, to, gasChains }: Period & { gasChains: readonly number[] },
): AsyncGenerator<DayMovement[]> {
  for await (const rows of streamPages<MovementRow>(pool, MOVEMENTS, [from, to, gasChains]))
    yield rows.map(({ chain_id, token, amount, usd_e6, ...row }) => ({
      ...row,
      chainId: Number(chain_id),
      token: token ?? undefined,
      amount: BigInt(amount),
      usdE6: usd_e6 === null ? undefined : BigInt(usd_e6),
    }))
}

/** Keeps the price of each asset for today; the last one of a day stays. */
export async function savePrices(db: Db, prices: ReadonlyMap<string, PriceE18>): Promise<void> {
  await db.query(
    `insert into price_days as d (day, asset, price_e18)
     select (clock_timestamp() at time zone 'UTC')::date, asset, price from unnest($1::text[], $2::numeric[])
         as n (asset, price)
     on conflict (day, asset) do update set price_e18 = excluded.price_e18, at = clock_timestamp()`,
    [[...prices.keys()], [...prices.values()].map(String)],
  )
}

export type DayPrice = { day: string; asset: string; priceE18: PriceE18 }

export async function readDayPrices(db: Db, { from, to }: Period): Promise<DayPrice[]> {
  const { rows } = await db.query<{ day: string; asset: string; price_e18: string }>(
    `select to_char(day, 'YYYY-MM-DD') as day, asset, price_e18 from price_days
      where day >= ($1::timestamptz at time zone 'UTC')::date and day < ($2::timestamptz at time zone 'UTC')::date
      order by day, asset`,
    [from, to],
  )
  return rows.map(({ day, asset, price_e18 }) => ({ day, asset, priceE18: BigInt(price_e18) }))
}
