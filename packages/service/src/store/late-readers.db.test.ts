import { beforeAll, describe, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { ageEventLog, backdateTestSwap, monthAt } from '../../test/support/event-log.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import { markAttemptsFinal } from './attempts.ts'
import { insertAttestation } from './attestations.ts'
import { addEventMonths, dropMonth, readEvents, type SwapEvents } from './events.ts'
import { findSwapRecord, listSwaps, type TraceLine, traceSwap } from './history.ts'
import { declareLanes, type Lease, takeLanes } from './lanes.ts'
import { insertMovements } from './ledger.ts'
import { type Delivery, placeEvents, recordOutcomes, replay, takeDue } from './webhook-deliveries.ts'
import { disableEndpoint, insertEndpoint, listEndpoints } from './webhook-endpoints.ts'

const endpointId = 'whe_late'
const proof = { kind: 'test' }

const database = useTestDatabase()
let lease: Lease
let accountId: string
/** Swaps that ended five months ago. */
let settled: TestSwap
let failed: TestSwap
let before: { events: SwapEvents | undefined; trace: TraceLine[]; sent: Delivery[] }

beforeAll(async () => {
  const { pool } = database
  await ageEventLog(pool)
  await addEventMonths(pool)
  await declareLanes(pool, ['webhooks'])
  const want = { names: ['webhooks'], holder: crypto.randomUUID(), ttlMs: 600_000, limit: 1 }
  const [taken] = await takeLanes(pool, want)
  if (!taken) throw new Error('The lane is not free')
  lease = taken
  accountId = await insertTestAccount(pool)
  await insertEndpoint(pool, { id: endpointId, accountId, url: 'https://hooks.example', secret: 'sealed' })
  settled = await insertTestSwap(pool, accountId)
  failed = await insertTestSwap(pool, accountId)
  await settleTestSwap(pool, settled)
  await moveTestSwap(pool, settled, 'claimFinal')
  await moveTestSwap(pool, failed, 'declined', { failureCode: 'PRICE_MOVED', proof })
  for (const swap of [settled, failed]) await backdateTestSwap(pool, swap)
  before = {
    events: await eventsOf(settled),
    trace: await traceSwap(pool, settled.swapId),
    sent: await resend(),
  }
  if (!(await dropMonth(pool, await monthAt(pool, -5)))) throw new Error('The month was not dropped')
})

async function eventsOf(swap: TestSwap, after = 0): Promise<SwapEvents | undefined> {
  const [found] = await readEvents(database.pool, [{ ...swap, after }])
  return found
}

async function takeAll(): Promise<Delivery[]> {
  const { pool } = database
  const taken = await takeDue(pool, { lease, endpointId, limit: 100, retryMs: 60_000 })
  const delivered = taken.map(({ position }) => position)
  await recordOutcomes(pool, { endpointId, delivered, failed: [], isGone: false })
  return taken
}

/** Replays the settled swap and returns all deliveries. */
async function resend(): Promise<Delivery[]> {
  await replay(database.pool, endpointId, { swapId: settled.swapId })
  return takeAll()
}

describe('after the months of a swap were dropped', () => {
  test.each([0, 3, 5, 9])(
    'a stream that resumes after event %i receives the same end as before',
    async (after) => {
      expect(before.events?.events).toHaveLength(5)
      expect(await eventsOf(settled, after)).toEqual({
        lastSeq: 5,
        ended: true,
        events: before.events?.events.slice(-1),
      })
    },
  )

  test('several streams receive their own ends', async () => {
    const keys = [failed, { ...settled, accountId: 'acc_other' }, settled].map((swap) => ({
      ...swap,
      after: 0,
    }))

    const [first, foreign, last] = await readEvents(database.pool, keys)

    expect(foreign).toBeUndefined()
    expect(first?.events).toMatchObject([{ seq: 2, status: { swapId: failed.swapId, status: 'failed' } }])
    expect(last?.events).toMatchObject([{ seq: 5, status: { swapId: settled.swapId, status: 'settled' } }])
  })

  test('a replay sends the end to a webhook, each time with the same id', async () => {
    const [again, ...more] = await resend()
    const [twice] = await resend()

    expect(more).toEqual([])
    expect(again).toMatchObject({ seq: 5, swap: before.sent.at(-1)?.swap })
    expect(twice?.position).toBe(again?.position)
    expect(before.sent.map(({ position }) => position)).not.toContain(again?.position)
  })

  test('a replay since a time has the ends after it, and none of other accounts', async () => {
    const { pool } = database
    const since = (days: number) => ({ since: new Date(Date.now() - days * 86_400_000) })
    const stranger = await insertTestSwap(pool, await insertTestAccount(pool))
    await settleTestSwap(pool, stranger)
    await backdateTestSwap(pool, stranger)
    await pool.query('delete from swap_events where swap_id = $1', [stranger.swapId])
    const open = await insertTestSwap(pool, accountId)
    await pool.query("update swap_events set position = nextval('swap_event_positions') where swap_id = $1", [
      open.swapId,
    ])

    expect(await replay(pool, endpointId, since(90))).toBe(1)
    expect((await takeAll()).map(({ swap }) => swap.swapId)).toEqual([open.swapId])
    expect(await replay(pool, endpointId, since(400))).toBe(3)
    expect((await takeAll()).map(({ swap, seq }) => `${swap.swapId} ${seq}`).sort()).toEqual(
      [`${open.swapId} 1`, `${settled.swapId} 5`, `${failed.swapId} 2`].sort(),
    )
  })

  test('a trace includes its end', async () => {
    const ends = (lines: TraceLine[]) => lines.filter(({ what }) => what === 'swap settled')

    const [end, ...more] = ends(await traceSwap(database.pool, settled.swapId))

    expect(more).toEqual([])
    expect(end?.detail).toEqual(ends(before.trace)[0]?.detail)
  })
})

/** A settled swap with a final lock, an open claim, an attestation, a booking and a proof. */
async function insertTraced(wallet: string): Promise<TestSwap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, accountId, wallet)
  await settleTestSwap(pool, swap)
  await markAttemptsFinal(pool, [{ id: await insertTestAttempt(pool, swap, 'lock') }], 9n)
  await insertTestAttempt(pool, swap, 'claim')
  await insertAttestation(pool, { chainId: 31_337, kind: 'claim', swapIds: [swap.swapId] })
  const booking = { part: 1, block: 7n, kind: 'locked', token: 'input', amount: 10n } as const
  const sides = { debit: 'wallet', credit: 'locked' } as const
  await insertMovements(pool, 31_337, [{ ...booking, ...sides, source: swap.swapId, swapId: swap.swapId }])
  await pool.query('update swaps set proof = $2 where id = $1', [swap.swapId, proof])
  return swap
}

test('a trace has all that is recorded of its swap, and nothing of another', async () => {
  const { pool } = database
  await insertTraced('other')
  const { swapId } = await insertTraced('traced')
  const whats = async () => (await traceSwap(pool, swapId)).map(({ what }) => what).sort()
  const all = [
    ...['attested claim', 'booked locked', 'decided lock', 'proof', 'signed claim', 'signed lock'],
    ...['swap accepted', 'swap delivering', 'swap locked', 'swap locking', 'swap settled'],
  ]

  expect(await whats()).toEqual(all)
  const attested = (await traceSwap(pool, swapId)).find(({ what }) => what === 'attested claim')
  expect(attested?.detail).toEqual({ chain: 31_337, swaps: 1, sent: false })
  await pool.query('delete from swap_events where swap_id = $1 and seq = 5', [swapId])
  expect(await whats()).toEqual(all)
})

test('swaps are listed by wallet, state and status, and each has its own record', async () => {
  const { pool } = database
  const [paid, open] = [await insertTraced('listed'), await insertTestSwap(pool, accountId, 'listed')]
  const listed = async (filter: { status?: string; wallet?: string }) =>
    (await listSwaps(pool, { limit: 100, ...filter })).map(({ id }) => id)

  expect(await listed({ wallet: 'listed' })).toEqual([open.swapId, paid.swapId])
  expect(await listed({ wallet: 'listed', status: 'settled' })).toEqual([paid.swapId])
  expect(await listed({ wallet: 'listed', status: 'accepted' })).toEqual([open.swapId])
  expect(await listed({ status: 'closed' })).toEqual([settled.swapId])
  const { rows } = await pool.query('select count(*)::int as count from swaps')
  expect(await listed({})).toHaveLength(rows[0].count)

  const op = await pool.query('select hash from ops o join swaps s on s.op_id = o.id where s.id = $1', [
    open.swapId,
  ])
  const record = { id: open.swapId, version: 0, wallet: 'listed', opHash: op.rows[0].hash }
  expect(await findSwapRecord(pool, open.swapId)).toMatchObject(record)
  expect(await findSwapRecord(pool, 'swp_unknown')).toBeUndefined()
})

/** An account with these endpoints. */
async function insertListener(...ids: string[]): Promise<string> {
  const owner = await insertTestAccount(database.pool)
  for (const id of ids)
    await insertEndpoint(database.pool, { id, accountId: owner, url: 'https://hooks.example', secret: '' })
  return owner
}
const owedTo = async (id: string) => {
  const found = (await listEndpoints(database.pool)).find((each) => each.id === id)
  return [found?.waiting, found?.givenUp]
}
const takeOf = (id: string, limit = 100) =>
  takeDue(database.pool, { lease, endpointId: id, limit, retryMs: 60_000 })

test('an endpoint gets the events of its account from the time it was added until it is disabled', async () => {
  const { pool } = database
  const owner = await insertTestAccount(pool)
  await insertTestSwap(pool, owner)
  const added = { id: 'whe_added', accountId: owner, url: 'https://hooks.example', secret: '' }
  await insertEndpoint(pool, added)
  const later = await insertTestSwap(pool, owner)
  await insertTestSwap(pool, await insertTestAccount(pool))
  await placeEvents(pool, { lease, limit: 1_000 })
  expect((await takeOf('whe_added')).map(({ swap }) => swap.swapId)).toEqual([later.swapId])

  await disableEndpoint(pool, { id: 'whe_added', because: 'it answered 410' })
  await insertTestSwap(pool, owner)
  await placeEvents(pool, { lease, limit: 1_000 })
  expect(await owedTo('whe_added')).toEqual([0, 1])
})

test('the outcome of a delivery is that of its endpoint alone', async () => {
  const { pool } = database
  const owner = await insertListener('whe_first', 'whe_second')
  await settleTestSwap(pool, await insertTestSwap(pool, owner))
  await placeEvents(pool, { lease, limit: 1_000 })
  const [done, failed, lost] = (await takeOf('whe_first', 3)).map(({ position }) => position)
  await takeOf('whe_second')
  const due = () => pool.query('update webhook_deliveries set next_at = now() where next_at is not null')

  await due()
  await recordOutcomes(pool, {
    ...{ endpointId: 'whe_first', delivered: [done ?? ''], isGone: false },
    failed: [{ position: failed ?? '', pauseMs: 60_000 }, { position: lost ?? '' }],
  })

  expect([await owedTo('whe_first'), await owedTo('whe_second')]).toEqual([
    [3, 1],
    [5, 0],
  ])
  expect((await takeOf('whe_first')).map(({ attempts }) => attempts)).toEqual([1, 1])
  expect(await takeOf('whe_second')).toHaveLength(5)
  await pool.query('update webhook_deliveries set next_at = null')
  expect(await replay(pool, 'whe_first', { failed: true })).toBe(4)
  expect([await owedTo('whe_first'), await owedTo('whe_second')]).toEqual([
    [4, 0],
    [0, 5],
  ])
})
