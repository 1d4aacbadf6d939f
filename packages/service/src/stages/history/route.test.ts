import { endpoints } from '@geoswap/wire'
import { afterAll, expect, test } from 'vitest'
import { expectError } from '../../../test/support/http-errors.ts'
import { createTestServer } from '../../../test/support/http-server.ts'

const reply = endpoints.history.example.reply
const asked: unknown[] = []
const { app, headers } = await createTestServer({
  handlers: {
    async history({ accountId }, query) {
      asked.push({ accountId, ...query })
      return reply
    },
  },
})
afterAll(() => app.close())

const get = (query: string) => app.inject({ url: `/swap/history${query}`, headers })

test('a page is answered unchanged, in the rate class of other calls', async () => {
  const { statusCode, headers: replied, json } = await get('')

  expect([statusCode, json()]).toEqual([200, reply])
  expect(replied).toMatchObject({
    'cache-control': 'no-store',
    ratelimit: expect.stringMatching(/^"other";/),
  })
})

test('the query is parsed with its limit as a number, for the account of the key', async () => {
  asked.length = 0
  const times = { from: '2026-01-02T03:04:05Z', to: '2026-01-02T03:04:05.678Z' }
  const query = { cursor: 'abc', wallet: 'w', status: 'settled', ...times }
  await get(`?${new URLSearchParams({ ...query, limit: '100' })}`)

  expect(asked).toEqual([{ accountId: 'acc_1', ...query, limit: 100 }])
})

test('401 MISSING_API_KEY without a key', async () => {
  expectError(await app.inject({ url: '/swap/history' }), 401, 'MISSING_API_KEY')
})

test.each([
  'limit=0',
  'limit=101',
  'limit=1.5',
  'limit=x',
  'limit=',
  'limit=1&limit=2',
  'status=open',
  'status=',
  'cursor=',
  'wallet=',
  'from=yesterday',
  'to=2026-01-02',
  'from=2026-01-02T03:04:05',
  'page=2',
  'Limit=1',
])('400 INVALID_REQUEST for ?%s', async (query) => {
  const refused = await get(`?${query}`)

  expectError(refused, 400, 'INVALID_REQUEST')
  expect(refused.json().details.issues[0].field).toBe(query.split('=')[0])
})
