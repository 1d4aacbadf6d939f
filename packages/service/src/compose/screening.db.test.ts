import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import { type Config, Secret } from '../config.ts'
import type { PartyRole } from '../screen/screening.ts'
import { insertOverride } from '../store/screening.ts'
import type { Chains } from './chains.ts'
import { createRegionReader, type OpenScreening, openScreening } from './screening.ts'

const database = useTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'screening-'))
const file = join(folder, 'list.txt')
writeFileSync(file, '0x901bb9583b24D97e995513C6778dc6888AB6870e')

let answer: string | undefined
const asked: { body: string; headers: IncomingHttpHeaders }[] = []
const held: ServerResponse[] = []
const service = createServer(async (request, reply) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  asked.push({ body: Buffer.concat(parts).toString(), headers: request.headers })
  if (answer !== undefined) reply.end(answer)
  else held.push(reply)
})
beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)))

let open: OpenScreening | undefined
afterEach(() => open?.stop())
afterAll(() => {
  service.closeAllConnections()
  service.close()
  rmSync(folder, { recursive: true })
})

type Sources = NonNullable<Config['network']['screening']>['sources']

/** Screens by these sources, and by contracts that say that everybody is listed, or nothing. */
async function start(sources: Sources, flag: boolean | undefined = true): Promise<OpenScreening> {
  const chainOf = (chainId: number) => ({
    family: { name: chainId === 3 ? 'solana' : 'evm' },
    readFlag: async (name: string) => {
      asked.push({ body: name, headers: {} })
      return flag
    },
  })
  const config = stub<Config>({
    network: { screening: { sources, budgetMs: 200, cacheSeconds: 60 } },
    screeningToken: new Secret('secret'),
  })
  const chains = stub<Chains>({ of: chainOf as never })
  open = openScreening(config, { pool: database.pool, chains, caller: 'test', onFault() {} })
  await open?.start()
  asked.splice(0)
  return open as OpenScreening
}

const http = (onUnknown?: 'allow' | 'deny'): Sources[number] => {
  const { port } = service.address() as AddressInfo
  return { name: 'own', kind: 'http', url: `http://127.0.0.1:${port}/`, onUnknown, timeoutMs: 1_000 }
}
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ask = (screening: OpenScreening, address = OTHER, chainId = 1, role: PartyRole = 'wallet') =>
  screening.ofCaller([{ address, chainId, role }], { point: 'quote', accountId: 'acct' })

test('a service is asked with its token, and its denial is recorded as it gave it', async () => {
  answer = '{"decision":"deny","reason":"theft","list":"a","version":"7"}'
  const screening = await start([http()])

  expect(await ask(screening)).toBe('deny')
  expect(asked).toMatchObject([
    {
      body: JSON.stringify({ address: OTHER, chainId: 1, role: 'wallet' }),
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    },
  ])
  expect(ask(screening)).toBe('deny')
  expect(asked).toHaveLength(1)
  await expect
    .poll(async () => (await database.pool.query('select reason, list, version from screening_denials')).rows)
    .toEqual([{ reason: 'theft', list: 'a', version: '7' }])
})

test.each<[string, string | undefined]>([
  ['is silent', undefined],
  ['answers a megabyte', `{"decision":"allow","reason":"${'x'.repeat(1_000_000)}"}`],
  ['answers something else', '<html>'],
])('a service that %s is unknown, within the budget', async (_, given) => {
  answer = given
  const begun = performance.now()

  expect(await ask(await start([http()]))).toBe('unknown')
  expect(await ask(await start([http('allow')]))).toBe('allow')
  expect(performance.now() - begun).toBeLessThan(5_000)
})

test('an answer that comes after the budget counts for the next caller', async () => {
  answer = undefined
  const screening = await start([http()])
  expect(await ask(screening)).toBe('unknown')

  held.at(-1)?.end('{"decision":"allow"}')

  await expect.poll(() => ask(screening)).toBe('allow')
})

test('an oracle covers the addresses of all EVM chains, and the blocklist of a token those of its chain', async () => {
  const contract = { chainId: 1, address: OTHER }
  const oracle = await start([{ ...contract, name: 'oracle', kind: 'oracle' }])
  expect([await ask(oracle, OTHER, 2), await ask(oracle, 'So1', 3)]).toEqual(['deny', 'allow'])
  expect(asked.map(({ body }) => body)).toEqual(['isSanctioned'])

  const token = await start([{ ...contract, name: 'usdc', kind: 'token', flag: 'isBlacklisted' }])
  expect([await ask(token, OTHER, 1), await ask(token, OTHER, 2)]).toEqual(['deny', 'allow'])
  expect(asked.map(({ body }) => body)).toEqual(['isBlacklisted'])
})

test('the operator’s decision goes before the list, in every spelling', async () => {
  const listed = '0x901BB9583b24D97e995513C6778dc6888AB6870E'
  const list: Sources[number] = { name: 'own', kind: 'list', file }
  expect(ask(await start([list]), listed)).toBe('deny')

  const decision = { reason: 'a false match', author: 'Ada' }
  await insertOverride(database.pool, { verdict: 'allow', address: listed.toLowerCase(), ...decision })
  await insertOverride(database.pool, { verdict: 'deny', address: OTHER.toLowerCase(), ...decision })
  const screening = await start([list])

  expect([ask(screening, listed), ask(screening, OTHER)]).toEqual(['allow', 'deny'])
})

test('a process starts without its list, which then knows nobody', async () => {
  const unheard = '0x00000000000000000000000000000000000000aa'

  expect(ask(await start([{ name: 'own', kind: 'list', file: `${file}.gone` }]), unheard)).toBe('unknown')
})

test('without a configuration nobody is screened, and no header is read', () => {
  const config = stub<Config>({ network: {}, screeningToken: undefined })
  const parts = { pool: database.pool, chains: stub<Chains>({}), caller: 'test', onFault() {} }

  expect(openScreening(config, parts)).toBeUndefined()
  expect(createRegionReader(config.network)).toBeUndefined()
})
