import type { RateClass } from '@geoswap/wire'
import type { KeyRules } from '../swap/key-rules.ts'
import type { Db } from './db.ts'

/** Calls per second by class. Missing classes use the default. */
export type Limits = Partial<Record<RateClass, number>>
/** Publishable keys may be in a web page. An account has keys of one kind. */
export type KeyKind = 'secret' | 'publishable'
type Account = { id: string; name: string; limits: Limits; kind: KeyKind }

/** Finds an account by id or name. */
export async function findAccount(db: Db, idOrName: string): Promise<Account | undefined> {
  const { rows } = await db.query<Account>(
    'select id, name, limits, kind from accounts where id = $1 or name = $1',
    [idOrName],
  )
  return rows[0]
}

/** Creates the account. Undefined if the name is taken. */
export async function insertAccount(db: Db, account: Account): Promise<Account | undefined> {
  const { rows } = await db.query<Account>(
    `insert into accounts (id, name, limits, kind) values ($1, $2, $3, $4)
     on conflict do nothing
     returning id, name, limits, kind`,
    [account.id, account.name, JSON.stringify(account.limits), account.kind],
  )
  return rows[0]
}

/** Changes the given classes only. */
export async function updateLimits(db: Db, { id, limits }: { id: string; limits: Limits }): Promise<void> {
  await db.query('update accounts set limits = limits || $2 where id = $1', [id, JSON.stringify(limits)])
}

/** `limits` are rates of the account; `rules` are limits of this key. `origins`: of a publishable key. */
type KeySettings = { kind: KeyKind; limits: Limits; origins: string[]; rules: KeyRules }
export type ActiveKey = KeySettings & { id: string; accountId: string; accountName: string; hash: Buffer }

/** All active keys with the limits of their accounts, the oldest first; API processes cache them. */
export async function findActiveKeys(db: Db): Promise<ActiveKey[]> {
  const { rows } = await db.query<ActiveKey>(
    `select k.id, k.account_id as "accountId", a.name as "accountName", k.hash, a.limits, a.kind, k.origins,
            k.rules
       from api_keys k
       join accounts a on a.id = k.account_id
      where k.revoked_at is null
      order by k.created_at, k.id`,
  )
  return rows
}

/** The active keys of the account of this name, and whether ops of the last day were built with one. */
export async function readKeyUse(db: Db, name: string): Promise<{ keys: number; isUsed: boolean }> {
  const { rows } = await db.query<{ keys: string; used: boolean }>(
    `select count(*) filter (where k.revoked_at is null) as keys,
            exists (select 1 from ops o join accounts b on b.id = o.account_id
                     where b.name = $1 and o.method is distinct from 'payment'
                       and o.expires_at > now() - interval '1 day') as used
       from api_keys k join accounts a on a.id = k.account_id where a.name = $1`,
    [name],
  )
  return { keys: Number(rows[0]?.keys ?? 0), isUsed: rows[0]?.used ?? false }
}

type NewKey = {
  id: string
  accountId: string
  hash: Buffer
  name: string
  origins: string[]
  rules: KeyRules
}

export async function insertApiKey(db: Db, key: NewKey): Promise<void> {
  await db.query(
    'insert into api_keys (id, account_id, hash, name, origins, rules) values ($1, $2, $3, $4, $5, $6)',
    [key.id, key.accountId, key.hash, key.name, key.origins, JSON.stringify(key.rules)],
  )
}

export async function findApiKey(
  db: Db,
  id: string,
): Promise<{ accountId: string; kind: KeyKind } | undefined> {
  const { rows } = await db.query<{ accountId: string; kind: KeyKind }>(
    `select k.account_id as "accountId", a.kind
       from api_keys k join accounts a on a.id = k.account_id where k.id = $1`,
    [id],
  )
  return rows[0]
}

/** A rule that is null is removed. */
type ChangedRules = { [Rule in keyof KeyRules]: KeyRules[Rule] | null }
type KeyChange = { id: string; origins: string[] | undefined; rules: ChangedRules }

/** Changes the given settings only. */
export async function updateApiKey(db: Db, { id, origins, rules }: KeyChange): Promise<void> {
  await db.query(
    `update api_keys set origins = coalesce($2, origins), rules = jsonb_strip_nulls(rules || $3) where id = $1`,
    [id, origins, JSON.stringify(rules)],
  )
}

/** Revokes a key. Repeatable. False if the key does not exist. */
export async function revokeApiKey(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1',
    [id],
  )
  return rowCount === 1
}

export type ListedKey = KeySettings & {
  id: string
  name: string
  accountId: string
  accountName: string
  createdAt: Date
  revokedAt: Date | null
}

export async function listApiKeys(db: Db): Promise<ListedKey[]> {
  const { rows } = await db.query<ListedKey>(
    `select k.id, k.name, a.id as "accountId", a.name as "accountName", a.limits, a.kind,
            k.origins, k.rules, k.created_at as "createdAt", k.revoked_at as "revokedAt"
       from api_keys k
       join accounts a on a.id = k.account_id
      order by k.created_at, k.id`,
  )
  return rows
}

type Freeze = { wallet: string; isFrozen: boolean; reason: string; author: string }

/** Adds a decision about a wallet that signs its requests. The last one counts. */
export async function insertFreeze(db: Db, { wallet, isFrozen, reason, author }: Freeze): Promise<void> {
  await db.query('insert into wallet_freezes (wallet, is_frozen, reason, author) values ($1, $2, $3, $4)', [
    wallet,
    isFrozen,
    reason,
    author,
  ])
}

type FrozenWallet = Omit<Freeze, 'isFrozen'> & { at: Date }

/** The wallets that are frozen now. */
export async function findFrozen(db: Db): Promise<FrozenWallet[]> {
  const { rows } = await db.query<FrozenWallet>(
    `select wallet, at, reason, author from (
       select distinct on (wallet) * from wallet_freezes order by wallet, id desc) f
      where is_frozen order by id`,
  )
  return rows
}

const TODAY = `(clock_timestamp() at time zone 'utc')::date`

/** The value of the swaps that the key submitted today, by the database's clock. */
export async function readSpentCents(db: Db, keyId: string): Promise<bigint> {
  const { rows } = await db.query<{ cents: string }>(
    `select cents from key_spending where key_id = $1 and day >= ${TODAY}`,
    [keyId],
  )
  return BigInt(rows[0]?.cents ?? 0)
}

/** The value of the swaps that a wallet paid for at this account today, without those that failed. */
export async function readWalletCents(
  db: Db,
  { accountId, wallet }: { accountId: string; wallet: string },
): Promise<bigint> {
  const { rows } = await db.query<{ cents: string }>(
    `select coalesce(sum(o.value_cents), 0) as cents from swaps s join ops o on o.id = s.op_id
      where s.wallet = $2 and s.account_id = $1 and s.state <> 'failed'
        and s.created_at >= ${TODAY} at time zone 'utc'`,
    [accountId, wallet],
  )
  return BigInt(rows[0]?.cents ?? 0)
}

type Spending = { keyId: string; cents: bigint; maxCents: bigint }

/**
 * Adds a swap to the day of its key. False if the day's limit does not leave enough. The row lock makes submissions of
 * all processes take turns.
 */
export async function spendOfDay(db: Db, { keyId, cents, maxCents }: Spending): Promise<boolean> {
  if (cents > maxCents) return false
  const { rowCount } = await db.query(
    `insert into key_spending as spent (key_id, day, cents) values ($1, ${TODAY}, $2)
     on conflict (key_id) do update
        set day = greatest(spent.day, excluded.day),
            cents = case when spent.day >= excluded.day then spent.cents else 0 end + excluded.cents
      where case when spent.day >= excluded.day then spent.cents else 0 end + excluded.cents <= $3`,
    [keyId, cents.toString(), maxCents.toString()],
  )
  return rowCount === 1
}

/** A request for tokens (`want` > 0), or a return of tokens (`want` < 0), of one bucket. */
export type Lease = { accountId: string; rateClass: string; rate: number; burst: number; want: number }
/** The granted tokens, and the tokens left in the bucket. */
export type Granted = { granted: number; tokens: number }

/**
 * Takes tokens out of shared buckets, in one statement and by the database's clock. Grants whole tokens only, in the
 * order of the leases. An unused bucket is full.
 */
export async function leaseBudgets(db: Db, leases: readonly Lease[]): Promise<Granted[]> {
  const { rows } = await db.query<Granted>(
    `select granted, tokens
             from unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::float8[])
                  with ordinality as wish (account_id, class, rate, burst, want, position)
            cross join lateral lease_rate_budget(account_id, class, rate, burst, want)
            order by position`,
    [
      leases.map((lease) => lease.accountId),
      leases.map((lease) => lease.rateClass),
      leases.map((lease) => lease.rate),
      leases.map((lease) => lease.burst),
      leases.map((lease) => lease.want),
    ],
  )
  return rows
}
