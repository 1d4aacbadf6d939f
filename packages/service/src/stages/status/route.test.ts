import { endpoints, type StatusReply } from '@geoswap/wire'
import { afterAll, expect, test, vi } from 'vitest'
import { createTestServer } from '../../../test/support/http-server.ts'

const ended: StatusReply = endpoints.status.example.reply
const pending: StatusReply = { ...ended, swapId: 'swp_open', status: 'pending', substatus: 'locking' }
const swaps = new Map([
  [ended.swapId, ended],
  [pending.swapId, pending],
])
const { app, headers, statusReads } = await createTestServer({ swaps })
afterAll(() => app.close())
const get = (path: string) => app.inject({ url: `/swap/status/${path}`, headers })

test('an ended swap is answered with its stored state', async () => {
  const reply = await get(ended.swapId)

  expect(reply.statusCode).toBe(200)
  expect(reply.json()).toEqual(ended)
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'ratelimit-policy': expect.stringMatching(/^"status";/),
  })
})

test.each(['0', '0.05', '0.001', '0.0'])('?wait=%s is held that long at most', async (wait) => {
  expect((await get(`${pending.swapId}?wait=${wait}`)).json()).toEqual(pending)
})

test.each([
  ['', 15_000],
  ['?wait=15', 15_000],
  ['?wait=15.0', 15_000],
  ['?wait=15.000', 15_000],
  ['?wait=14.999', 14_999],
  ['?wait=1', 1_000],
  ['?wait=0', 0],
])('a read with %j may be held for %i milliseconds', async (query, waitMs) => {
  const read = vi.spyOn(statusReads, 'read')

  expect((await get(`${ended.swapId}${query}`)).statusCode).toBe(200)
  expect(read).toHaveBeenLastCalledWith(expect.objectContaining({ waitMs }))
})

test.each([
  'wait=16',
  'wait=15.1',
  'wait=-1',
  'wait=',
  'wait=1e1',
  'wait=abc',
  'wait=1&wait=2',
  'wiat=1',
  'wait=01',
])('400 INVALID_REQUEST for ?%s', async (query) => {
  const reply = await get(`${ended.swapId}?${query}`)

  expect(reply.json()).toMatchObject({ code: 'INVALID_REQUEST', details: { issues: [expect.anything()] } })
  expect(reply.statusCode).toBe(400)
})

test('404 SWAP_NOT_FOUND is the same for every unknown, malformed or absurd id', async () => {
  const bodyOf = async (id: string) => {
    const reply = await get(id)
    const { requestId: _requestId, ...body } = reply.json()
    return { status: reply.statusCode, ...body }
  }
  const unknown = await bodyOf('swp_none')

  expect(unknown).toMatchObject({ status: 404, code: 'SWAP_NOT_FOUND' })
  for (const id of ['', '%zz', '%00', 'a%2Fb', 'x'.repeat(4_000), '%27%20or%201=1%20--', '%F0%9F%92%A3']) {
    expect(await bodyOf(id), id).toEqual(unknown)
  }
})
