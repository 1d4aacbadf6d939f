import { type IncomingMessage, request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { createTestServer } from '../../../test/support/http-server.ts'
import {
  insertTestSwap,
  moveTestSwap,
  settleTestSwap,
  statusOfTestSwap,
} from '../../../test/support/swaps.ts'
import { composeStatus } from '../../compose/status.ts'
import { listen } from '../../http/server.ts'
import { inTransaction } from '../../store/db.ts'
import { createListener, type Listener } from '../../store/listen.ts'

type Server = Awaited<ReturnType<typeof createTestServer>>

let database: TestDatabase
let status: ReturnType<typeof composeStatus>
let server: Server
let listener: Listener
let url: string
beforeAll(async () => {
  database = await startTestDatabase()
  status = composeStatus(database.pool, () => {})
  server = await createTestServer({ statusReads: status.reads, statusStreams: status.streams })
  url = await listen(server.app, { port: 0, host: '127.0.0.1' })
  const channels = { swap_terminal: status.swapEnded }
  listener = createListener({ url: database.url, channels, onFault: vi.fn() })
})
afterAll(async () => {
  await server.app.close()
  await listener.close()
  await database.stop()
})

// The account of the test server's key.
const insert = () => insertTestSwap(database.pool, 'acc_1')

const connections = () => promisify(server.app.server.getConnections).call(server.app.server)

/** Statements that wait for a lock. */
async function waitingReads(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and query like '%swap_events%'`,
  )
  return rows[0]?.count ?? 0
}

/** A stream over a real connection, and the events it received so far. */
function follow(swapId: string, { query = '', headers = {} }: { query?: string; headers?: object } = {}) {
  let text = ''
  let reply: IncomingMessage | undefined
  const sent = request(`${url}/swap/status/${swapId}/events${query}`, {
    headers: { ...server.headers, ...headers },
    agent: false,
  })
  const ended = new Promise<void>((resolve) => {
    sent.on('response', (response) => {
      reply = response
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('close', resolve)
    })
    sent.on('error', () => resolve())
  })
  sent.end()
  const events = () =>
    [...text.matchAll(/^id: (\d+)\ndata: (.*)\n\n/gm)].map(([, id, data]) => ({
      id: Number(id),
      swap: JSON.parse(data ?? ''),
    }))
  return {
    ended,
    events,
    reply: () => reply,
    body: () => JSON.parse(text),
    ids: () => events().map(({ id }) => id),
    hangUp: () => sent.destroy(),
  }
}

test('each change of a swap is sent as a status reply, and the last one ends the stream', async () => {
  const swap = await insert()
  const stream = follow(swap.swapId)
  await vi.waitFor(() => expect(stream.ids()).toEqual([1]))
  expect(stream.reply()?.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-request-id': expect.stringMatching(/^req_/),
    ratelimit: expect.stringMatching(/^"status";/),
  })

  await moveTestSwap(database.pool, swap, 'lockRecorded')
  await vi.waitFor(() => expect(stream.ids()).toEqual([1, 2]))
  expect(stream.events().at(-1)?.swap).toEqual(await statusOfTestSwap(database.pool, swap))
  await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0x1' })
  await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0x2' })
  await moveTestSwap(database.pool, swap, 'deliverySeen', { deliveryTxHash: '0x2', delivered: 990n })
  await stream.ended

  expect(stream.ids()).toEqual([1, 2, 3, 4, 5])
  expect(stream.events().map(({ swap }) => swap.substatus)).toEqual([
    'accepted',
    'locking',
    'locked',
    'delivering',
    'delivered',
  ])
  expect(stream.events().at(-1)?.swap).toEqual(await statusOfTestSwap(database.pool, swap))
  expect(status.heldCount()).toBe(0)
})

test('a stream resumes by header or query, and the header wins', async () => {
  const swap = await insert()
  await settleTestSwap(database.pool, swap)

  const streams = [
    follow(swap.swapId, { headers: { 'last-event-id': '3' } }),
    follow(swap.swapId, { query: '?lastEventId=2' }),
    follow(swap.swapId, { query: '?lastEventId=1', headers: { 'last-event-id': '4' } }),
    follow(swap.swapId, { headers: { 'last-event-id': '5' } }),
  ]
  await Promise.all(streams.map(({ ended }) => ended))

  expect(streams.map(({ ids }) => ids())).toEqual([[4, 5], [3, 4, 5], [5], [5]])
})

test('404 SWAP_NOT_FOUND and 400 INVALID_REQUEST are answered as for any other call', async () => {
  const foreign = await insertTestSwap(database.pool, 'acc_2')
  const own = await insert()

  const refused = [
    follow(foreign.swapId),
    follow('swp_none'),
    follow(own.swapId, { query: '?lastEventId=x' }),
    follow(own.swapId, { query: '?since=1' }),
    follow(own.swapId, { headers: { 'last-event-id': '-1' } }),
  ]
  await Promise.all(refused.map(({ ended }) => ended))

  expect(refused.map(({ body }) => body().code)).toEqual([
    'SWAP_NOT_FOUND',
    'SWAP_NOT_FOUND',
    'INVALID_REQUEST',
    'INVALID_REQUEST',
    'INVALID_REQUEST',
  ])
  expect(refused[4]?.body().details.issues).toEqual([expect.objectContaining({ field: 'last-event-id' })])
})

test('a caller that hangs up releases its slot', async () => {
  const stream = follow((await insert()).swapId)
  await vi.waitFor(() => expect(status.heldCount()).toBe(1))
  stream.hangUp()

  await vi.waitFor(() => expect(status.heldCount()).toBe(0))
})

test('a caller that hangs up before its answer holds no slot', async () => {
  const { swapId } = await insert()
  const before = await connections()
  await inTransaction(database.pool, async (db) => {
    await db.query('lock table swaps')
    const stream = follow(swapId)
    await vi.waitFor(async () => expect(await waitingReads()).toBe(1))
    stream.hangUp()
    await vi.waitFor(async () => expect(await connections()).toBe(before))
  })

  await vi.waitFor(async () => expect(await waitingReads()).toBe(0))
  // Another stream is answered after it, on the same database connection or a later one.
  const next = follow(swapId)
  await vi.waitFor(() => expect(next.ids()).toEqual([1]))
  expect(status.heldCount()).toBe(1)
  next.hangUp()
  await vi.waitFor(() => expect(status.heldCount()).toBe(0))
})

test('a closing server ends its streams at once', async () => {
  const stream = follow((await insert()).swapId)
  await vi.waitFor(() => expect(stream.ids()).toEqual([1]))
  const closed = server.app.close()
  await stream.ended
  await closed

  expect(stream.reply()?.complete).toBe(true)
  expect(status.heldCount()).toBe(0)
})
