import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../command.ts'
import { createKeyTable } from '../http/key-table.ts'
import { findFrozen } from '../store/api-keys.ts'
import { streamAudit } from '../store/exports.ts'
import { wallets } from './wallets.ts'

const database = useTestDatabase()
const WALLET = '0x901bb9583b24D97e995513C6778dc6888AB6870e'
const why = ['--reason', 'floods', '--author', 'Ada']

async function run(...args: string[]) {
  const out: string[] = []
  const hints: string[] = []
  const output = { out: (text: string) => void out.push(text), hint: (text: string) => void hints.push(text) }
  const code = await runCommand(output, () => wallets(args, { DATABASE_URL: database.url }, output))
  return { code, out: out.join('\n'), hint: hints.join('\n') }
}

test('a wallet is frozen until it is unfrozen, and every decision stays in the audit', async () => {
  const table = createKeyTable({
    findActiveKeys: async () => [],
    findFrozen: () => findFrozen(database.pool),
    onError: expect.unreachable,
  })
  const isFrozen = async () => {
    await table.refresh()
    return table.isFrozen(WALLET)
  }

  expect(await isFrozen()).toBe(false)
  expect(await run('freeze', WALLET.toLowerCase(), ...why)).toMatchObject({
    code: 0,
    hint: `${WALLET} is frozen: every process follows within 5 seconds.`,
  })
  expect(await isFrozen()).toBe(true)
  expect((await run('list')).out).toContain('floods')
  expect(await run('unfreeze', WALLET, ...why)).toMatchObject({ code: 0 })
  expect(await isFrozen()).toBe(false)
  expect(JSON.parse((await run('list', '--json')).out)).toEqual([])
  const rows: unknown[] = []
  const period = { from: new Date(0), to: new Date('2100-01-01') }
  for await (const page of streamAudit(database.pool, period)) rows.push(...page)
  expect(rows).toMatchObject([
    { record: 'freeze', verdict: 'frozen', address: WALLET, reason: 'floods', author: 'Ada' },
    { record: 'freeze', verdict: 'unfrozen' },
  ])
  await expect(database.pool.query('delete from wallet_freezes')).rejects.toThrow('decide again')
})

test('a freeze is announced to the processes that keep the keys', async () => {
  const client = await database.pool.connect()
  const heard = new Promise<string>((resolve) => client.on('notification', ({ channel }) => resolve(channel)))
  await client.query('listen api_keys')

  await run('freeze', WALLET, ...why)

  expect(await heard).toBe('api_keys')
  client.release(true)
})

test.each([
  [['freeze', WALLET, '--reason', 'why']],
  [['freeze', WALLET, '--author', 'Ada']],
  [['freeze', 'somebody', ...why]],
  [['freeze', WALLET, WALLET, ...why]],
  [['list', WALLET]],
  [['fly']],
])('"wallets %j" is refused', async (args) => {
  expect(await run(...args)).toMatchObject({ code: 2, out: '' })
})
