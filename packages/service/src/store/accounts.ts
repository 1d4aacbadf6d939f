import type { RateClass } from '@geoswap/wire'
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
