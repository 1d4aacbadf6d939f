import type { Limits } from './accounts.ts'
import type { Db } from './db.ts'

export type ActiveKey = { id: string; accountId: string; hash: Buffer; limits: Limits }

/** All active keys with the limits of their accounts; API processes cache them. */
export async function findActiveKeys(db: Db): Promise<ActiveKey[]> {
  const { rows } = await db.query<ActiveKey>(
    `select k.id, k.account_id as "accountId", k.hash, a.limits
       from api_keys k
       join accounts a on a.id = k.account_id
      where k.revoked_at is null`,
  )
  return rows
}

type NewKey = { id: string; accountId: string; hash: Buffer; name: string }

export async function insertApiKey(db: Db, key: NewKey): Promise<void> {
  await db.query('insert into api_keys (id, account_id, hash, name) values ($1, $2, $3, $4)', [
    key.id,
    key.accountId,
    key.hash,
    key.name,
  ])
}

/** Revokes a key. Repeatable. False if the key does not exist. */
export async function revokeApiKey(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1',
    [id],
  )
  return rowCount === 1
}

export type ListedKey = {
  id: string
  name: string
  accountId: string
  accountName: string
  limits: Limits
  createdAt: Date
  revokedAt: Date | null
}

export async function listApiKeys(db: Db): Promise<ListedKey[]> {
  const { rows } = await db.query<ListedKey>(
    `select k.id, k.name, a.id as "accountId", a.name as "accountName", a.limits,
            k.created_at as "createdAt", k.revoked_at as "revokedAt"
       from api_keys k
       join accounts a on a.id = k.account_id
      order by k.created_at, k.id`,
  )
  return rows
}
