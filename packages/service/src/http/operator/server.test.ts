import type { OperatorOverview } from '@geoswap/wire'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createTestServer } from '../../../test/support/http-server.ts'
import { ServiceError } from '../../errors.ts'
import type { WebPage } from '../web/routes.ts'
import { createOperatorKeys, createOperatorServer, type OperatorPort } from './server.ts'

const KEY = 'k'.repeat(32)
const NEXT_KEY = 'n'.repeat(32)
const headers = { 'x-operator-key': KEY }

const overview: OperatorOverview = {
  at: '2026-03-01T12:00:00.000Z',
  network: 'local',
  alarms: [],
  chains: [],
  assets: [],
  inventory: [],
  senders: [],
  gasFloats: [],
  lanesHeld: 1,
  prices: [],
  stops: [],
  earnings: { routes: [], gas: [] },
  swaps: { open: [], claimMarginUsed: 0, unsigned: 0, quarantined: 0, ended: [] },
  books: { chains: [], balances: [] },
  webhooks: { failing: 0, disabled: 0 },
}
const unexpected = async () => {
  throw new Error('Unexpected call')
}
const page: WebPage = {
  assets: new Map([
    ['index.html', { type: 'text/html', etag: '"x"', body: Buffer.from('page'), gzip: Buffer.from('') }],
  ]),
  settings: { rpcUrls: {}, txUrls: {}, contracts: {} },
}

async function createTestOperator(port: Partial<OperatorPort> = {}, web?: WebPage) {
  const refusing = { overview: unexpected, series: unexpected, pause: unexpected, resume: unexpected }
  return createOperatorServer({
    port: { ...refusing, ...port },
    keys: createOperatorKeys([KEY, NEXT_KEY]),
    logger: pino({ level: 'silent' }),
    web,
  })
}

describe('the key', () => {
  test.each([
    ['MISSING_API_KEY', {}],
    ['INVALID_API_KEY', { 'x-operator-key': 'k'.repeat(31) }],
    ['INVALID_API_KEY', { 'x-operator-key': '' }],
    ['MISSING_API_KEY', { 'x-api-key': KEY }],
  ])('401 %s with %j, on every path', async (code, sent) => {
    const app = await createTestOperator()
    const calls = [
      { url: '/operate/overview' },
      { url: '/operate/series' },
      { url: '/operate/stops', method: 'POST', payload: { scope: {}, note: 'x' } },
      { url: '/operate/stops/1/resume', method: 'POST', payload: { note: 'x' } },
    ] as const

    for (const call of calls) {
      const reply = await app.inject({ ...call, headers: sent as Record<string, string> })
      expect([reply.statusCode, reply.json().code]).toEqual([401, code])
      expect(reply.json().message).toContain('x-operator-key')
    }
  })

  test.each([KEY, NEXT_KEY])('any of several works', async (key) => {
    const app = await createTestOperator({ overview: async () => overview })

    const reply = await app.inject({ url: '/operate/overview', headers: { 'x-operator-key': key } })

    expect([reply.statusCode, reply.json()]).toEqual([200, overview])
  })

  test('429 RATE_LIMITED for repeated wrong keys, and the right key is never counted', async () => {
    const app = await createTestOperator({ overview: async () => overview })
    const tries = Array.from({ length: 400 }, () => app.inject({ url: '/operate/overview' }))

    const codes = (await Promise.all(tries)).map((reply) => reply.statusCode)

    expect(codes).toContain(429)
    expect((await app.inject({ url: '/operate/overview', headers })).statusCode).toBe(200)
  })

  test('of a caller opens nothing here, and operator paths are not on the callers’ listener', async () => {
    const { app, headers: caller } = await createTestServer()
    const operator = await createTestOperator()

    expect((await operator.inject({ url: '/operate/overview', headers: caller })).statusCode).toBe(401)
    expect((await app.inject({ url: '/operate/overview', headers })).json().code).toBe('NOT_FOUND')
  })
})

describe('a pause', () => {
  test('is raised in the name of the key’s id, without the key', async () => {
    const seen: unknown[] = []
    const pause: OperatorPort['pause'] = async (asked) => {
      seen.push(asked)
      return { id: '7', isNew: true }
    }
    const app = await createTestOperator({ pause })
    const payload = { scope: { chainId: 1, asset: 'ETH' }, note: 'maintenance' }

    const reply = await app.inject({ url: '/operate/stops', method: 'POST', headers, payload })

    expect(reply.json()).toEqual({ id: '7', isNew: true })
    expect(seen).toEqual([{ ...payload, by: expect.stringMatching(/^operator key [0-9a-f]{8}$/) }])
  })

  test.each([
    ['note', { scope: {} }],
    ['note', { scope: {}, note: '  ' }],
    ['note', { scope: {}, note: 'a\u0000b' }],
    ['scope', { note: 'x' }],
    ['scope.asset', { scope: { asset: '' }, note: 'x' }],
    ['scope.chain', { scope: { chain: 1 }, note: 'x' }],
    ['scope.chainId', { scope: { chainId: '1' }, note: 'x' }],
  ])('400 INVALID_REQUEST that names %s for %j', async (field, payload) => {
    const app = await createTestOperator()

    const reply = await app.inject({ url: '/operate/stops', method: 'POST', headers, payload })

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'INVALID_REQUEST'])
    expect(reply.json().details.issues[0].field).toBe(field)
  })

  test('404 NOT_FOUND for the end of an unknown one', async () => {
    const resume = async () => {
      throw new ServiceError('NOT_FOUND', { message: 'There is no such stop, or it is over.' })
    }
    const app = await createTestOperator({ resume })
    const call = { url: '/operate/stops/9/resume', method: 'POST', headers, payload: { note: 'x' } } as const

    expect((await app.inject(call)).json()).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('no such stop'),
    })
  })
})

test('400 INVALID_REQUEST for an unsupported number of hours', async () => {
  const app = await createTestOperator()

  const reply = await app.inject({ url: '/operate/series?hours=25', headers })

  expect([reply.statusCode, reply.json().details.issues[0].field]).toEqual([400, 'hours'])
})

describe('the dashboard', () => {
  const askSettings = async (operator: WebPage['operator'], sent: Record<string, string>) => {
    const app = await createTestOperator({}, { ...page, ...(operator && { operator }) })
    return (await app.inject({ url: '/app/network.json', headers: sent })).json()
  }

  test('is a page that calls only its own server', async () => {
    const app = await createTestOperator({}, { ...page, operator: {} })

    const reply = await app.inject({ url: '/app/operate' })

    expect(reply.body).toBe('page')
    expect(reply.headers['content-security-policy']).toContain("connect-src 'self';")
  })

  test('gets the key on the machine of a local network, and nowhere else', async () => {
    const here = { host: '127.0.0.1:8082' }

    expect((await askSettings({ localKey: KEY }, here)).operator).toEqual({ key: KEY })
    expect((await askSettings({ localKey: KEY }, { host: 'rebound.example' })).operator).toEqual({})
    expect((await askSettings({}, here)).operator).toEqual({})
  })
})
