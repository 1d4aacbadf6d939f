import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startTestDatabase, useTestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../command.ts'
import { createKeyTable } from '../http/key-table.ts'
import { findActiveKeys } from '../store/api-keys.ts'
import { createListener } from '../store/listen.ts'
import { runApiKeyCommand } from './api-key.ts'

const database = useTestDatabase()

async function run(args: string, env: Record<string, string> = { DATABASE_URL: database.url }) {
  const out: string[] = []
  const hints: string[] = []
  const output = {
    out: (text: string) => void out.push(text),
    hint: (text: string) => void hints.push(text),
  }
  const code = await runCommand(output, () => runApiKeyCommand(args.split(' '), env, output))
  return { code, out: out.join('\n'), hint: hints.join('\n') }
}

test('create prints only the key, and the database stores only its hash', async () => {
  const { code, out, hint } = await run('create --name bot --limit quote=100 --limit status=50')

  expect([code, hint]).toEqual([0, expect.stringContaining('shown only now')])
  expect(out).toMatch(/^gsk_live_\w{12}_\w{43}_\w{6}$/)
  const { rows } = await database.pool.query(
    'select row_to_json(k) as key, row_to_json(a) as account from api_keys k, accounts a',
  )
  expect(JSON.stringify(rows)).not.toContain(out.split('_')[3])
  expect(rows[0].account.limits).toEqual({ quote: 100, status: 50 })
})

test('an account can have several keys, and its name cannot be taken twice by accident', async () => {
  await run('create --name shop')
  const second = await run('create --name rotation --account shop')
  const again = await run('create --name shop')

  expect(second.code).toBe(0)
  expect(again).toMatchObject({ code: 2, out: '', hint: expect.stringContaining('--account shop') })
  const { rows } = await database.pool.query(
    "select count(*)::int as keys from api_keys k join accounts a on a.id = k.account_id where a.name = 'shop'",
  )
  expect(rows).toEqual([{ keys: 2 }])
})

test('list shows every key as a table or as JSON, never a secret', async () => {
  const { out: key } = await run('create --name listed')
  const table = await run('list')
  const json = await run('list --json')

  expect(table.out).toContain('listed')
  expect(JSON.parse(json.out)).toContainEqual(expect.objectContaining({ name: 'listed', revokedAt: null }))
  expect(table.out + json.out).not.toContain(key.split('_')[3])
})

test('a listening process accepts a new key and refuses a revoked one at once, by notification alone', async () => {
  const fail = (error: unknown) => expect.unreachable(String(error))
  const keys = createKeyTable({
    findActiveKeys: () => findActiveKeys(database.pool),
    pollMs: 1e9,
    onError: fail,
  })
  const connected = vi.fn()
  const channels = { api_keys: () => void keys.refresh() }
  const listener = createListener({ url: database.url, channels, onConnect: connected, onFault: fail })
  await keys.start()
  await vi.waitFor(() => expect(connected).toHaveBeenCalled())
  const { out: key } = await run('create --name fresh')
  expect(await keys.authenticate(key)).toMatchObject({ accountId: expect.stringMatching(/^acc_/) })

  const id = key.split('_')[2]
  expect((await run(`revoke ${id}`)).code).toBe(0)

  await vi.waitFor(async () => expect(await keys.authenticate(key)).toBeUndefined())
  expect((await run(`revoke ${id}`)).code).toBe(0)
  keys.close()
  await listener.close()
})

test('a publishable key has its own prefix, origins, rates and account, and can be revoked', async () => {
  const made = await run('create --name web --publishable --origin https://shop.example --rate 5')
  const id = made.out.split('_')[2]

  expect(made.out).toMatch(/^gpk_live_\w{12}_\w{43}_\w{6}$/)
  const active = await findActiveKeys(database.pool)
  expect(active.find((key) => key.id === id)).toMatchObject({
    ...{ kind: 'publishable', origins: ['https://shop.example'], rules: {} },
    limits: { quote: 5, build: 5, submit: 5, delegation: 5, status: 5, other: 5 },
  })
  expect((await run('list')).out).toMatch(/web .*publishable .*https:\/\/shop\.example/)
  expect((await run(`revoke ${made.out}`)).code).toBe(0)
  expect((await findActiveKeys(database.pool)).map((key) => key.id)).not.toContain(id)
})

test('an account has secret or publishable keys, never both', async () => {
  await run('create --name backend')
  await run('create --name pages --publishable --origin https://shop.example')

  const publishable = await run(
    'create --name x --account backend --publishable --origin https://shop.example',
  )
  const secret = await run('create --name x --account pages')
  const second = await run('create --name y --account pages --publishable --origin http://localhost:3000')

  expect([publishable.code, secret.code, second.code]).toEqual([2, 2, 0])
  expect(secret.hint).toContain('Use another account')
})

test('limits of a key are set, changed one by one and removed', async () => {
  const token = `31337:0x${'ab'.repeat(20)}`
  const wallet = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
  const rulesOf = async (id: string | undefined) =>
    (await findActiveKeys(database.pool)).find((key) => key.id === id)?.rules
  const { out } = await run(
    `create --name bound --max-swap-usd 99.50 --max-day-usd 1000 --recipient ${wallet}`,
  )
  const id = out.split('_')[2]

  expect(await rulesOf(id)).toEqual({
    ...{ maxSwapCents: 9_950, maxDayCents: 100_000 },
    recipients: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
  })
  await run(`update ${id} --max-swap-usd none --recipient none --token ${token}`)
  expect(await rulesOf(id)).toEqual({
    maxDayCents: 100_000,
    tokens: ['31337:0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB'],
  })
  expect((await run('list')).out).toContain('day=1000.00USD tokens=1')
})

test.each([
  ['create --name z --publishable', '--origin'],
  ['create --name z --origin https://shop.example', '--publishable'],
  ['create --name z --publishable --origin https://shop.example/', 'as a browser does'],
  ['create --name z --publishable --origin *', 'as a browser does'],
  ['create --name z --max-swap-usd 1e3', 'US dollars'],
  ['create --name z --max-day-usd 0', 'US dollars'],
  ['create --name z --recipient 0x1', 'not an address'],
  ['create --name z --token 0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'CHAIN_ID:ADDRESS'],
  ['create --name z --rate 0', 'calls per second'],
  ['update nope --rate 1', 'Unknown key nope'],
  ['update --rate 1', 'Key id missing'],
])('%s is refused', async (args, hint) => {
  expect(await run(args)).toMatchObject({ code: 2, out: '', hint: expect.stringContaining(hint) })
})

test('mistakes are explained and change nothing', async () => {
  expect(await run('create')).toMatchObject({ code: 2, hint: expect.stringContaining('--name') })
  expect(await run('create --name x --limit cake=1')).toMatchObject({
    code: 2,
    hint: expect.stringContaining('CLASS='),
  })
  expect(await run('create --name x --limit quote=-1')).toMatchObject({ code: 2 })
  expect(await run('revoke nope')).toMatchObject({ code: 2, hint: 'Unknown key nope.' })
  expect(await run('revoke')).toMatchObject({ code: 2 })
  expect(await run('fly')).toMatchObject({ code: 2, hint: expect.stringContaining('--help') })
  expect(await run('list --what')).toMatchObject({ code: 2 })
})

test('without DATABASE_URL the local network is used, and its keys say so', async () => {
  const home = await mkdtemp(join(tmpdir(), 'geoswap-home-'))
  const none = await run('list', { GEOSWAP_HOME: home })
  await writeFile(join(home, 'secrets.json'), JSON.stringify({ databaseUrl: database.url }))

  expect(none).toMatchObject({ code: 2, hint: expect.stringContaining('npm start') })
  expect((await run('create --name here', { GEOSWAP_HOME: home })).out).toMatch(/^gsk_local_/)
})

test('an unreachable or empty database is reported as such', async () => {
  const down = await run('list', { DATABASE_URL: 'postgres://x:y@127.0.0.1:1/x' })
  const { url, stop } = await startTestDatabase({ migrated: false })
  const empty = await run('list', { DATABASE_URL: url })
  await stop()

  expect(down).toMatchObject({ code: 1, hint: expect.stringContaining('cannot be reached') })
  expect(empty).toMatchObject({ code: 1, hint: expect.stringContaining('migrate') })
})
