import type { AtRisk, Wasted } from '../swap/budgets.ts'
import { settledStates, unlockedStates } from '../swap/lifecycle.ts'
import type { Db } from './db.ts'
import { isSentSql, OPENS_ACCOUNT } from './op-columns.ts'
import { isOpenAt, listOf } from './sql.ts'

export const HOUR = `date_trunc('hour', clock_timestamp())`

/** The part of a transaction's fee that one of its swaps wasted. */
export type WastedGas = { attemptId: string; swapId: string; chainId: number; fee: bigint; usdE6: bigint }

/**
 * Books wasted gas for wallet, account and chain. Of one transaction and swap it is booked once. Anyone may name any
 * wallet for a deposit: its wallet signed nothing, and pays for nothing.
 */
export async function insertWasted(db: Db, wasted: readonly WastedGas[]): Promise<void> {
  if (wasted.length === 0) return
  await db.query(
    `with added as (
       insert into wasted_gas (attempt_id, swap_id, chain_id, fee, usd_e6)
       select attempt_id, swap_id, chain_id, fee, usd_e6
         from unnest($1::bigint[], $2::text[], $3::bigint[], $4::numeric[], $5::numeric[])
           as n (attempt_id, swap_id, chain_id, fee, usd_e6)
       on conflict do nothing
    returning swap_id, chain_id, usd_e6
     ), parts as (
       select p.scope, p.id, a.usd_e6
         from added a join swaps s on s.id = a.swap_id join ops o on o.id = s.op_id
        cross join lateral (values ('wallet', s.wallet), ('account', s.account_id), ('chain', a.chain_id::text))
                                as p (scope, id)
        where p.scope <> 'wallet' or ${isSentSql('o')} is not true
     )
     insert into wasted_hours as h (scope, id, hour, usd_e6)
     select scope, id, ${HOUR}, sum(usd_e6) from parts group by 1, 2 order by 1, 2
     on conflict (scope, id, hour) do update set usd_e6 = h.usd_e6 + excluded.usd_e6`,
    [
      wasted.map(({ attemptId }) => attemptId),
      wasted.map(({ swapId }) => swapId),
      wasted.map(({ chainId }) => chainId),
      wasted.map(({ fee }) => fee.toString()),
      wasted.map(({ usdE6 }) => usdE6.toString()),
    ],
  )
}

type Payer = { wallet: string; accountId: string; chains: readonly number[] }
type Row = Record<'wallet_e6' | 'account_e6' | 'chain_e6', string> & { known: boolean }

const spentOf = (scope: string, ids: string) =>
  `(select coalesce(max(h.usd_e6), 0) from wasted_hours h
     where h.scope = '${scope}' and h.id = any(${ids}) and h.hour = ${HOUR})`
const SPENT = `
  ${spentOf('wallet', 'array[p.wallet]')} as wallet_e6, ${spentOf('account', 'array[p.account_id]')} as account_e6,
  ${spentOf('chain', 'p.chains')} as chain_e6,
  exists (select 1 from swaps s where s.wallet = p.wallet and s.account_id = p.account_id
             and s.state in ${listOf(settledStates)}) as known`

function toWasted({ wallet_e6, account_e6, chain_e6, known }: Row): Wasted {
  return { wallet: BigInt(wallet_e6), account: BigInt(account_e6), chain: BigInt(chain_e6), isKnown: known }
}

/** Gas wasted in this hour, and the time until the next. `chain` is the larger of the chains' sums. */
export async function readWasted(db: Db, payer: Payer): Promise<{ wasted: Wasted; hourLeftMs: number }> {
  const { rows } = await db.query<Row & { left_ms: number }>(
    `select ${SPENT},
            (extract(epoch from ${HOUR} + interval '1 hour' - clock_timestamp()) * 1000)::int as left_ms
       from (select $1::text as wallet, $2::text as account_id, $3::text[] as chains) p`,
    [payer.wallet, payer.accountId, payer.chains.map(String)],
  )
  const [row] = rows
  if (!row) throw new Error('No wasted gas was read')
  return { wasted: toWasted(row), hourLeftMs: row.left_ms }
}

export type WastedRow = Row & { id: string }

/** SQL of the gas wasted in this hour for the ops $1. Ops whose wallet and account wasted none are absent. */
export const FIND_WASTED = `
  select p.id, ${SPENT}
    from (select o.id, o.wallet, o.account_id, array[o.origin_chain, o.destination_chain]::text[] as chains
            from ops o where o.id = any($1)
             and exists (select 1 from wasted_hours h where h.hour = ${HOUR} and (h.scope, h.id) in
                   (('wallet', o.wallet), ('account', o.account_id), ('chain', o.origin_chain::text),
                    ('chain', o.destination_chain::text)))) p`

/** The same by op id. */
export async function findWasted(db: Db, opIds: readonly string[]): Promise<Map<string, Wasted>> {
  const { rows } = await db.query<WastedRow>(FIND_WASTED, [opIds])
  return toWastedById(rows)
}

export const toWastedById = (rows: readonly WastedRow[]) =>
  new Map(rows.map((row) => [row.id, toWasted(row)]))

/**
 * The swaps of an account without a lock that may waste its cost: of contract wallets, and payments whose account is
 * opened before. Their submissions take turns from here on.
 */
export async function readOpenRisks(
  db: Db,
  { wallet, accountId }: Pick<Payer, 'wallet' | 'accountId'>,
): Promise<Omit<AtRisk, 'lockUsdE6'>> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [accountId])
  const { rows } = await db.query<{ of_account: number; of_wallet: number }>(
    `select count(*)::int as of_account, (count(*) filter (where s.wallet = $2))::int as of_wallet
       from swaps s join ops o on o.id = s.op_id
      where s.account_id = $1 and s.state in ${listOf(unlockedStates)} and (o.is_contract or ${OPENS_ACCOUNT})`,
    [accountId, wallet],
  )
  return { ofAccount: rows[0]?.of_account ?? 0, ofWallet: rows[0]?.of_wallet ?? 0 }
}

/** A lock or delivery of a swap that no stored event shows; `swaps` is how many the transaction was for. */
type Unseen = { attemptId: string; swapId: string; eventId: string; swaps: number }

/** Of these attempts, the locks and deliveries without an event that are not booked as wasted. */
export async function findUnseen(db: Db, attemptIds: readonly string[]): Promise<Unseen[]> {
  const { rows } = await db.query<Unseen>(
    `select l.attempt_id::text as "attemptId", l.swap_id as "swapId", e.id as "eventId",
            (select count(*)::int from attempt_swaps n where n.attempt_id = l.attempt_id) as swaps
       from tx_attempts a
       join attempt_swaps l on l.attempt_id = a.id
       join swaps s on s.id = l.swap_id
       join ops o on o.id = s.op_id
      cross join lateral (select case l.role when 'lock' then o.hash else o.delivery_hash end as id,
                                 case l.role when 'lock' then 'locked' else 'delivered' end as kind) e
      where a.id = any($1) and (l.role = 'deliver' or l.role = 'lock' and ${isSentSql('o')} is not true)
        and not exists (select 1 from chain_events c where c.chain_id = a.chain_id and c.tx_hash = a.tx_hash
                           and c.id = e.id and c.kind = e.kind)
        and not exists (select 1 from wasted_gas w where w.attempt_id = l.attempt_id and w.swap_id = l.swap_id)`,
    [attemptIds],
  )
  return rows
}

/** US dollars of gas wasted in this hour, in millionths, by chain. */
export async function readWastedByChain(db: Db): Promise<Map<number, bigint>> {
  const { rows } = await db.query<{ id: string; usd_e6: string }>(
    `select id, usd_e6 from wasted_hours where scope = 'chain' and hour = ${HOUR}`,
  )
  return new Map(rows.map(({ id, usd_e6 }) => [Number(id), BigInt(usd_e6)]))
}

const KEPT_DAYS = 30

/** Deletes what no budget is compared with any more. */
export async function deleteOldWaste(db: Db): Promise<void> {
  const old = `clock_timestamp() - make_interval(days => ${KEPT_DAYS})`
  await db.query(`delete from wasted_hours where hour < ${old}`)
  await db.query(`delete from wasted_gas where wasted_at < ${old}`)
}

type NewTopUp = { attemptId: string; chainId: number; block: bigint; address: string; amount: bigint }

/** The sum of top-ups signed in the last 24 hours on a chain, whatever their outcome. */
export async function sumTopUpsOfDay(db: Db, chainId: number): Promise<bigint> {
  const { rows } = await db.query<{ total: string }>(
    `select coalesce(sum(amount), 0) as total from gas_topups
      where chain_id = $1 and created_at > clock_timestamp() - interval '24 hours'`,
    [chainId],
  )
  return BigInt(rows[0]?.total ?? 0)
}

/** Keys whose balance at this block may not include a signed top-up. */
export async function findAwaitingTopUp(
  db: Db,
  at: { chainId: number; block: bigint },
): Promise<Set<string>> {
  const { rows } = await db.query<{ address: string }>(
    `select t.address from gas_topups t join tx_attempts a on a.id = t.attempt_id
      where t.chain_id = $1 and ${isOpenAt('$2')}`,
    [at.chainId, at.block.toString()],
  )
  return new Set(rows.map(({ address }) => address))
}

/**
 * Books a top-up in the transaction that records its bytes. Concurrent bookings wait. False if the daily limit would be
 * exceeded, or another top-up of the key is pending.
 */
export async function bookTopUp(db: Db, topUp: NewTopUp, maxPerDay: bigint): Promise<boolean> {
  const { attemptId, chainId, address, amount } = topUp
  // Only a worker can lock this row: another role could hold an advisory lock for ever.
  await db.query('select 1 from sender_keys where chain_id = $1 order by address limit 1 for update', [
    chainId,
  ])
  if ((await findAwaitingTopUp(db, topUp)).has(address)) return false
  if ((await sumTopUpsOfDay(db, chainId)) + amount > maxPerDay) return false
  await db.query('insert into gas_topups (attempt_id, chain_id, address, amount) values ($1, $2, $3, $4)', [
    attemptId,
    chainId,
    address,
    amount.toString(),
  ])
  return true
}
