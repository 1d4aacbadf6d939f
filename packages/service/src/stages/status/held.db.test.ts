import { type ClientRequest, get } from 'node:http'
import { endpoints, type StatusReply, type SwapStatus } from '@geoswap/wire'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { createTestServer } from '../../../test/support/http-server.ts'
import { listen } from '../../http/server.ts'
import { createListener } from '../../store/listen.ts'
import { createStatusReads } from './wait.ts'

const example: StatusReply = endpoints.status.example.reply
let database: TestDatabase

beforeAll(async () => {
  database = await startTestDatabase({ migrated: false })
  await database.pool.query('create table probes (id text primary key, account_id text, status text)')
})
afterAll(() => database.stop())

async function readProbes(keys: readonly { accountId: string; swapId: string }[]) {
  const { rows } = await database.pool.query<{ id: string; status: SwapStatus }>(
    `select p.id, p.status from unnest($1::text[], $2::text[]) as k (id, account_id)
       join probes p using (id, account_id)`,
    [keys.map((key) => key.swapId), keys.map((key) => key.accountId)],
  )
  const found = new Map(rows.map(({ id, status }) => [id, { ...example, swapId: id, status }]))
  return keys.map((key) => found.get(key.swapId))
}

/** An API process with its own server and listener. With `isDeaf` it gets no notification and has only its sweep. */
async function startProcess({ isDeaf = false, sweepMs = 1_000 } = {}) {
  const readStatuses = vi.fn(readProbes)
  const statusReads = createStatusReads({
    sweepMs,
    readStatuses,
    findEnded: async (ids) => {
      const ended = "select id from probes where id = any($1) and status <> 'pending'"
      return (await database.pool.query<{ id: string }>(ended, [ids])).rows.map(({ id }) => id)
    },
    onError: vi.fn(),
  })
  const connected = vi.fn(() => statusReads.setListening(true))
  const channels = { swap_terminal: isDeaf ? () => {} : statusReads.swapEnded }
  const listener = createListener({ url: database.url, channels, onConnect: connected, onFault: vi.fn() })
  const server = await createTestServer({ statusReads })
  const url = await listen(server.app, { port: 0, host: '127.0.0.1' })
  await vi.waitFor(() => expect(connected).toHaveBeenCalled(), 10_000)
  const read = (id: string) => readOverHttp(`${url}/swap/status/${id}`, server.headers)
  const stop = () => Promise.all([server.app.close(), listener.close()])
  const held = (count: number) => vi.waitFor(() => expect(statusReads.heldCount()).toBe(count), 10_000)
  return { read, held, stop, readStatuses }
}

type Answer = { status: number; body: StatusReply }

function readOverHttp(url: string, headers: Record<string, string>) {
  let request: ClientRequest | undefined
  const answer = new Promise<Answer>((resolve, reject) => {
    request = get(url, { headers, agent: false }, (reply) => {
      let text = ''
      reply.on('data', (chunk) => {
        text += chunk
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(text) }))
    })
    request.on('error', reject)
  })
  return { answer, hangUp: () => request?.destroy() }
}

async function insertProbes(prefix: string, count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into probes select $1 || i, 'acc_1', 'pending' from generate_series(1, $2::int) i returning id`,
    [prefix, count],
  )
  return rows.map(({ id }) => id)
}

async function endProbes(ids: string[]): Promise<void> {
  await database.pool.query(
    `with ended as (update probes set status = 'settled' where id = any($1) returning id)
     select pg_notify('swap_terminal', id) from ended`,
    [ids],
  )
}

test('300 swaps that end together are answered by notification on both processes, with a few statements', async () => {
  const ids = await insertProbes('together', 300)
  const processes = await Promise.all([startProcess({ sweepMs: 1e9 }), startProcess({ sweepMs: 1e9 })])
  const answers = processes.flatMap(({ read }) => ids.map((id) => read(id).answer))
  await Promise.all(processes.map(({ held }) => held(300)))
  for (const { readStatuses } of processes) readStatuses.mockClear()
  await endProbes(ids)
  const answered = await Promise.all(answers)

  expect(new Set(answered.map(({ status, body }) => `${status} ${body.status}`))).toEqual(
    new Set(['200 settled']),
  )
  for (const { readStatuses } of processes) expect(readStatuses.mock.calls.length).toBeLessThan(10)
  await Promise.all(processes.map(({ stop }) => stop()))
})

test('a process without notifications answers by its sweep', async () => {
  const ids = await insertProbes('deaf', 20)
  const { read, held, stop } = await startProcess({ isDeaf: true })
  const answers = ids.map((id) => read(id).answer)
  await held(20)
  await endProbes(ids)

  for (const { body } of await Promise.all(answers)) expect(body.status).toBe('settled')
  await stop()
})

test('a read is no longer held once its caller hangs up', async () => {
  const [id = ''] = await insertProbes('gone', 1)
  const { read, held, stop } = await startProcess()
  const { answer, hangUp } = read(id)
  await held(1)
  hangUp()

  await expect(answer).rejects.toThrow()
  await held(0)
  await stop()
})

test('a closing server answers its held reads with the latest state, and ends soon', async () => {
  const ids = await insertProbes('closing', 50)
  const { read, held, stop } = await startProcess()
  const answers = ids.map((id) => read(id).answer)
  await held(50)
  const started = performance.now()
  const stopped = stop()
  const answered = await Promise.all(answers)
  await stopped

  expect(new Set(answered.map(({ status, body }) => `${status} ${body.status}`))).toEqual(
    new Set(['200 pending']),
  )
  expect(performance.now() - started).toBeLessThan(10_000)
})
