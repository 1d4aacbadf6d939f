import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertEndedSwaps } from '../../test/support/swaps.ts'
import { runCommand } from '../command.ts'
import { insertDenial, insertOverride } from '../store/screening.ts'
import { audit } from './audit.ts'

const database = useTestDatabase()
const SWAPS = 2_100
const FORMULA = '=cmd|calc'

beforeAll(async () => {
  const { pool } = database
  const wallets = Array.from({ length: SWAPS }, (_, index) => (index === 0 ? FORMULA : `wallet ${index}`))
  await insertEndedSwaps(pool, await insertTestAccount(pool), wallets)
  await pool.query(
    `update ops set value_cents = 123456789012345678, input_amount = 2::numeric ^ 256 - 1 where wallet = $1`,
    [FORMULA],
  )
  await pool.query(`update swaps set created_at = '2026-06-30T23:59:59.999Z' where wallet = 'wallet 1'`)
  await pool.query(`update swaps set created_at = '2026-07-01T00:00:00Z' where wallet <> 'wallet 1'`)
  await insertDenial(pool, {
    ...{ point: 'quote', role: 'wallet', address: '0xa', chainId: 1, reason: 'a "list", =1', list: 'own' },
    ...{ version: '7', accountId: 'acct' },
  })
  await insertOverride(pool, { verdict: 'allow', address: '0xa', reason: 'checked', author: 'me' })
})

async function run(args: string) {
  const out: string[] = []
  const hints: string[] = []
  const output = { out: (text: string) => void out.push(text), hint: (text: string) => void hints.push(text) }
  const code = await runCommand(output, () => audit(args.split(' '), { DATABASE_URL: database.url }, output))
  return { code, out, hint: hints.join('\n') }
}

const today = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

test('every swap of the days is exported once, in pages, with exact amounts', async () => {
  const { code, out } = await run('export --from 2026-07-01 --to 2026-07-02 --format jsonl')

  expect([code, out.length]).toEqual([0, 3])
  const rows: Record<string, unknown>[] = out
    .join('\n')
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(new Set(rows.map(({ swapId }) => swapId)).size).toBe(SWAPS - 1)
  expect(rows.find(({ wallet }) => wallet === FORMULA)).toMatchObject({
    ...{ record: 'swap', time: '2026-07-01T00:00:00.000Z', status: 'settled', recipient: 'recipient' },
    ...{ inputAmount: (2n ** 256n - 1n).toString(), usd: '1234567890123456.78', originChain: '31337' },
  })
  expect(rows.some(({ wallet }) => wallet === 'wallet 1')).toBe(false)
})

test('a table has the same rows, and no cell that a spreadsheet runs', async () => {
  const { out } = await run('export --from 2026-07-01 --to 2026-07-02 --format csv')

  const [head = '', ...lines] = out.join('\n').split('\n')
  expect(lines).toHaveLength(SWAPS - 1)
  expect(
    lines.filter((line) => line.split(',')[head.split(',').indexOf('wallet')] === `'${FORMULA}`),
  ).toHaveLength(1)
})

test('denials and decisions follow the swaps', async () => {
  const { out } = await run(`export --from 2026-07-03 --to ${today()} --format jsonl`)

  const rows = out
    .join('\n')
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows).toMatchObject([
    { record: 'denial', verdict: 'deny', point: 'quote', reason: 'a "list", =1', list: 'own', version: '7' },
    { record: 'override', verdict: 'allow', address: '0xa', reason: 'checked', author: 'me' },
  ])
  expect(rows[1]).not.toHaveProperty('list')
})

test.each(['list', 'export --from 2026-07-01 --to 2026-07-02', 'export --format csv'])(
  '"audit %s" is refused',
  async (args) => {
    expect(await run(args)).toMatchObject({ code: 2, out: [] })
  },
)
