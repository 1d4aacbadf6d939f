import { randomBytes } from 'node:crypto'
import { RATE_CLASSES } from '@geoswap/wire'
import pg from 'pg'
import { runApiKeyCommand } from '../packages/service/src/operate/api-key.ts'

export type Operator = ReturnType<typeof createOperator>
type Limits = Partial<Record<(typeof RATE_CLASSES)[number], number>>

/** Enough for test files that do not test rate limits. */
const AMPLE: Limits = Object.fromEntries(RATE_CLASSES.map((name) => [name, 1_000]))

/** The actions of the network's operator: keys and limits by command, the rest by SQL. */
export function createOperator(databaseUrl: string) {
  async function command(...args: string[]): Promise<string> {
    const out: string[] = []
    const output = { out: (text: string) => out.push(text), hint: () => {} }
    await runApiKeyCommand(args, { DATABASE_URL: databaseUrl }, output)
    return out.join('\n')
  }

  /** Creates a new account and returns its key. Classes without a limit have the defaults. */
  async function createKey(limits: Limits = AMPLE, account?: string): Promise<string> {
    const flags = Object.entries(limits).flatMap(([name, perSecond]) => ['--limit', `${name}=${perSecond}`])
    const name = `test ${randomBytes(6).toString('hex')}`
    return command(
      'create',
      '--name',
      name,
      '--network',
      'local',
      ...flags,
      ...(account ? ['--account', account] : []),
    )
  }

  /** Creates a new account with these options of the command, and returns its key. */
  const createKeyWith = (...flags: string[]) =>
    command('create', '--name', `test ${randomBytes(6).toString('hex')}`, '--network', 'local', ...flags)

  async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client(databaseUrl)
    await client.connect()
    try {
      const { rows } = await client.query<Row>(sql, values)
      return rows
    } finally {
      await client.end()
    }
  }

  return { createKey, createKeyWith, revoke: (key: string) => command('revoke', key), query }
}
