import type { KeyRules } from '../model/key-rules.ts'
import type { KeyKind, Limits } from './accounts.ts'
import type { Db } from './db.ts'

/** `limits` are rates of the account; `rules` are limits of this key. `origins`: of a publishable key. */
type KeySettings = { kind: KeyKind; limits: Limits; origins: string[]; rules: KeyRules }
export type ActiveKey = KeySettings & { id: string; accountId: string; hash: Buffer }

/** All active keys with the limits of their accounts; API processes cache them. */
export async function findActiveKeys(db: Db): Promise<ActiveKey[]> {
  const { rows } = await db.query<ActiveKey>(
    `select k.id, k.account_id as "accountId", k.hash, a.limits, a.kind, k.origins, k.rules
       from api_keys k
       join accounts a on a.id = k.account_id
      where k.revoked_at is null`,
  )
  return rows
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
