import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { clearDenials, findOverrides, insertDenial, insertOverride } from './screening.ts'

const database = useTestDatabase()

const denied = {
  ...{ point: 'delivery', role: 'wallet', address: '0xa', chainId: 1 },
  ...{ reason: 'listed', list: 'own', version: '7' },
}
const count = async () =>
  Number((await database.pool.query('select count(*) from screening_denials')).rows[0].count)

test('a denial of a swap is recorded once, and one of a caller each time', async () => {
  const { pool } = database

  for (const swapId of ['swp_a', 'swp_a', 'swp_b']) await insertDenial(pool, { ...denied, swapId })
  expect(await count()).toBe(2)
  for (let call = 0; call < 2; call += 1)
    await insertDenial(pool, { ...denied, point: 'quote', accountId: 'acct' })
  expect(await count()).toBe(4)
})

test.each([
  'update screening_denials set reason = $$none$$',
  'delete from screening_denials',
  'truncate screening_denials',
  'update screening_overrides set author = $$nobody$$',
  'delete from screening_overrides',
  'truncate screening_overrides',
])('even the owner of the tables is refused: %s', async (sql) => {
  const { pool } = database
  await insertDenial(pool, { ...denied, swapId: 'swp_a' })
  await insertOverride(pool, { verdict: 'deny', address: '0xb', reason: 'theft', author: 'me' })

  await expect(pool.query(sql)).rejects.toThrow('what was decided is not changed')
})

test('denials older than configured are cleared, and those of the last year never', async () => {
  const { pool } = database
  const before = await count()
  await pool.query(
    `insert into screening_denials (at, point, role, address, chain_id, reason, list, version)
     select now() - make_interval(days => d), 'quote', 'wallet', '0xc', 1, 'listed', 'own', '1'
       from unnest('{360, 400, 800, 900}'::int[]) d`,
  )

  expect(await clearDenials(pool, { days: 500, limit: 1 })).toBe(1)
  expect(await clearDenials(pool, { days: 500, limit: 10 })).toBe(1)
  expect(await clearDenials(pool, { days: 0, limit: 10 })).toBe(1)
  expect(await count()).toBe(before + 1)
})

test('of the decisions about an address the last one counts, until it is withdrawn', async () => {
  const { pool } = database
  const decide = (verdict: 'allow' | 'deny' | 'lists', address: string) =>
    insertOverride(pool, { verdict, address, reason: 'why', author: 'me' })
  const verdicts = async () =>
    Object.fromEntries((await findOverrides(pool)).map(({ address, verdict }) => [address, verdict]))
  await decide('deny', '0xd')
  await decide('deny', '0xe')

  await decide('allow', '0xd')
  expect(await verdicts()).toMatchObject({ '0xd': 'allow', '0xe': 'deny' })
  await decide('lists', '0xe')
  expect(await verdicts()).not.toHaveProperty('0xe')
})
