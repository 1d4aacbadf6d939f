import { randomBytes } from 'node:crypto'
import pg from 'pg'

const PARTS = ['api', 'worker', 'attester', 'operator', 'dashboard'] as const

/**
 * The database URL of each part of the service, with a login role limited to that part. Each attester has its own,
 * since the database knows it by its login.
 */
export type DatabaseUrls = Readonly<Record<(typeof PARTS)[number], string>> & {
  readonly attesters: readonly string[]
}

/**
 * Creates the roles of the service as an operator does, before the tables exist. Repeatable, with new
 * passwords.
 */
export async function createLogins(adminUrl: string, { attesters = 1 } = {}): Promise<DatabaseUrls> {
  const client = new pg.Client(adminUrl)
  await client.connect()
  try {
    const entries: [string, string][] = []
    for (const part of PARTS) entries.push([part, await createLogin(client, adminUrl, part)])
    const urls = Object.fromEntries(entries) as Record<(typeof PARTS)[number], string>
    const more: string[] = []
    for (let number = 2; number <= attesters; number += 1)
      more.push(await createLogin(client, adminUrl, 'attester', `_${number}`))
    return { ...urls, attesters: [urls.attester, ...more] }
  } finally {
    await client.end()
  }
}

async function createLogin(client: pg.Client, adminUrl: string, part: string, suffix = ''): Promise<string> {
  const group = `geoswap_${part}`
  const login = `local_${part}${suffix}`
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
