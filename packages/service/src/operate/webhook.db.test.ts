import { randomBytes } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../command.ts'
import { createConfiguredSealer } from '../compose/webhooks.ts'
import { parseSealKeys } from '../config/secrets.ts'
import { disableEndpoint, findEndpoint, type ListedEndpoint } from '../store/webhook-endpoints.ts'
import { createSecretSeal } from '../webhooks/sign.ts'
import { runWebhookCommand } from './webhook.ts'

const sealKeys = `k1:${randomBytes(32).toString('hex')}`
const seal = createSecretSeal(createConfiguredSealer(parseSealKeys(sealKeys, [])))
let database: TestDatabase
let accountId: string
beforeAll(async () => {
  database = await startTestDatabase()
  accountId = await insertTestAccount(database.pool)
})
afterAll(() => database.stop())

const production = () => ({ DATABASE_URL: database.url, GEOSWAP_SEAL_KEYS: sealKeys })

async function run(args: string, env: Record<string, string> = production()) {
  const out: string[] = []
  const hints: string[] = []
  const output = {
    out: (text: string) => void out.push(text),
    hint: (text: string) => void hints.push(text),
  }
  const code = await runCommand(output, () => runWebhookCommand(args.split(' '), env, output))
  return { code, out: out.join('\n'), hint: hints.join('\n') }
}

async function add(url = 'https://hooks.example/geo?key=1'): Promise<{ id: string; secret: string }> {
  const { out, hint } = await run(`add --account ${accountId} --url ${url}`)
  return { id: /Endpoint (\w+) /.exec(hint)?.[1] ?? '', secret: out }
}

async function listed(id: string): Promise<ListedEndpoint | undefined> {
  const endpoints: ListedEndpoint[] = JSON.parse((await run('list --json')).out)
  return endpoints.find((endpoint) => endpoint.id === id)
}

test('add prints only the secret, and stores it sealed for its account', async () => {
  const { id, secret } = await add()

  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const endpoint = await findEndpoint(database.pool, id)
  expect(endpoint).toMatchObject({ accountId, url: 'https://hooks.example/geo?key=1' })
  expect(endpoint?.secret).not.toContain(secret.slice(6))
  expect(seal.open(accountId, endpoint?.secret ?? '')).toBe(secret)
  expect(() => seal.open('acc_other', endpoint?.secret ?? '')).toThrow()
})

test('rotate prints a new secret, and keeps the previous one for a day', async () => {
  const { id, secret } = await add()

  const { out: next } = await run(`rotate ${id}`)

  const endpoint = await findEndpoint(database.pool, id)
  expect(next).toMatch(/^whsec_/)
  expect(seal.open(accountId, endpoint?.secret ?? '')).toBe(next)
  expect(seal.open(accountId, endpoint?.previousSecret ?? '')).toBe(secret)
})

test('rotate says who needs the new secret, and how long the old one signs', async () => {
  const { id } = await add('https://rotated.example/')
  const first = await run(`rotate ${id}`)
  const second = await run(`rotate ${id}`)
  const strangers = `k2:${randomBytes(32).toString('hex')}`
  await disableEndpoint(database.pool, { id, because: 'it answered 410' })
  const opensNothing = await run(`rotate ${id}`, { ...production(), GEOSWAP_SEAL_KEYS: strangers })

  expect(first.hint).toMatch(/^This is the new secret of endpoint \w+, .* https:\/\/rotated.example\/\.$/m)
  expect(first.hint).toContain('For 24 hours events are also signed with the old one')
  expect(first.hint).not.toContain('that before')
  expect(second.hint).toContain('The secret before that no longer signs.')
  expect(opensNothing.hint).toContain('only the new one signs from now on')
  expect(opensNothing.hint).toContain(`webhook enable ${id}`)
})

test('list shows every endpoint as a table or as JSON, never a secret', async () => {
  const { id, secret } = await add('https://listed.example/')
  const table = await run('list')

  expect(await listed(id)).toMatchObject({ url: 'https://listed.example/', waiting: 0, disabledAt: null })
  expect(table.out).toMatch(new RegExp(`${id} .*https://listed.example/ +active`))
  expect(table.out + (await run('list --json')).out).not.toContain(secret.slice(6))
})

test('a disabled endpoint has a reason, gets no replay, and can be enabled', async () => {
  const { id } = await add()
  await disableEndpoint(database.pool, { id, because: 'it answered 410' })
  expect((await run('list')).out).toContain('it answered 410')
  expect(await run(`replay ${id} --failed`)).toMatchObject({
    code: 2,
    hint: expect.stringContaining('enable'),
  })

  expect((await run(`enable ${id}`)).code).toBe(0)

  expect(await listed(id)).toMatchObject({ disabledAt: null })
  expect(await run(`replay ${id} --failed`)).toMatchObject({
    code: 0,
    hint: expect.stringContaining('0 events'),
  })
})

test('remove deletes the endpoint', async () => {
  const { id } = await add()

  expect((await run(`remove ${id}`)).code).toBe(0)

  expect(await listed(id)).toBeUndefined()
  expect(await run(`remove ${id}`)).toMatchObject({ code: 2, hint: `Unknown endpoint ${id}.` })
})

test.each([
  ['add', '--account'],
  ['add --account nobody --url https://x.example', 'Unknown account nobody'],
  ['add --account ACCOUNT', '--url'],
  ['add --account ACCOUNT --url x.example', '--url'],
  ['add --account ACCOUNT --url ftp://x.example', '--url'],
  ['add --account ACCOUNT --url https://me:pass@x.example', 'password'],
  ['rotate', 'webhook list'],
  ['rotate nope', 'Unknown endpoint nope'],
  ['replay ENDPOINT', '--failed'],
  ['replay ENDPOINT --failed --swap swp_1', '--failed'],
  ['replay ENDPOINT --since yesterday', '--since'],
  ['fly', '--help'],
  ['list --what', '--help'],
])('%s is explained and changes nothing', async (args, hint) => {
  const { id } = await add()

  const refused = await run(args.replace('ACCOUNT', accountId).replace('ENDPOINT', id))

  expect(refused).toMatchObject({ code: 2, out: '', hint: expect.stringContaining(hint) })
})

test('without seal keys nothing is stored; wrong ones are reported, not printed', async () => {
  const command = `add --account ${accountId} --url https://x.example`
  const missing = await run(command, { DATABASE_URL: database.url })
  const wrong = await run(command, { DATABASE_URL: database.url, GEOSWAP_SEAL_KEYS: 'k1:abc' })

  expect(missing).toMatchObject({ code: 2, out: '', hint: expect.stringContaining('GEOSWAP_SEAL_KEYS') })
  expect(wrong).toMatchObject({ code: 2, out: '', hint: expect.not.stringContaining('abc') })
})

test('without DATABASE_URL the local network and its seal keys are used', async () => {
  const home = await mkdtemp(join(tmpdir(), 'geoswap-home-'))
  await writeFile(join(home, 'secrets.json'), JSON.stringify({ databaseUrl: database.url, sealKeys }))

  const { code } = await run(`add --account ${accountId} --url http://127.0.0.1:9/`, { GEOSWAP_HOME: home })

  expect(code).toBe(0)
})
