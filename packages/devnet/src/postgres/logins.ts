import { randomBytes } from 'node:crypto'
import pg from 'pg'

const PARTS = ['api', 'worker', 'attester', 'operator', 'dashboard'] as const

/** The database URL of each part of the service, with a login role limited to that part. */
export type DatabaseUrls = Readonly<Record<(typeof PARTS)[number], string>>

/**
 * Creates the roles of the service as an operator does, before the tables exist. Repeatable, with new
 * passwords.
 */
export async function createLogins(adminUrl: string): Promise<DatabaseUrls> {
  const client = new pg.Client(adminUrl)
  await client.connect()
  try {
    const entries: [string, string][] = []
    for (const part of PARTS) entries.push([part, await createLogin(client, adminUrl, part)])
    return Object.fromEntries(entries) as DatabaseUrls
  } finally {
    await client.end()
  }
}

async function createLogin(client: pg.Client, adminUrl: string, part: string): Promise<string> {
  const group = `geoswap_${part}`
  const login = `local_${part}`
  const password = randomBytes(24).toString('hex')
  await createRole(client, group, 'nologin')
  await createRole(client, login, 'login')
  await client.query(`alter role ${login} password '${password}'`)
  await client.query(`grant ${group} to ${login}`)
  return Object.assign(new URL(adminUrl), { username: login, password }).href
}

async function createRole(client: pg.Client, name: string, kind: 'login' | 'nologin'): Promise<void> {
  const { rows } = await client.query('select 1 from pg_roles where rolname = $1', [name])
  if (rows.length === 0) await client.query(`create role ${name} ${kind}`)
}
