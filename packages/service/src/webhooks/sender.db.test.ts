import { randomBytes } from 'node:crypto'
import { WebhookEvent } from '@geoswap/wire'
import { Check } from 'typebox/value'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { insertTestEndpoint } from '../../test/support/webhook-endpoint.ts'
import { createTestRunner, startTestProcess } from '../../test/support/webhook-process.ts'
import { isGenuine, type Receiver, startReceiver } from '../../test/support/webhook-receiver.ts'
import { createSealer } from '../seal/sealer.ts'
import { declareLanes } from '../store/lanes.ts'
import { replay } from '../store/webhook-deliveries.ts'
import {
  enableEndpoint,
  findEndpoint,
  findOverloaded,
  listEndpoints,
  rotateSecret,
} from '../store/webhook-endpoints.ts'
import { createSecretSeal, createWebhookSecret, resealAll } from './sign.ts'

const keys = [{ id: 'k1', key: randomBytes(32) }]
const seal = createSecretSeal(createSealer({ keys }))
const database = useTestDatabase()
let receiver: Receiver
beforeAll(async () => {
  await declareLanes(database.pool, ['webhooks'])
})
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await receiver.stop()
  await database.pool.query('delete from webhook_endpoints')
  await database.pool.query(`update lanes set expires_at = '-infinity'`)
})

const addEndpoint = (url = receiver.url) => insertTestEndpoint(database.pool, { seal, url })

async function startProcess({ openSecret = seal.open, onDisabled = vi.fn() } = {}) {
  return { onDisabled, ...(await startTestProcess(database.pool, { openSecret, onDisabled })) }
}

const arrived = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count), 10_000)
const idsOf = () => receiver.received.map(({ headers }) => headers['webhook-id'])
const bodies = (): WebhookEvent[] => receiver.received.map(({ body }) => JSON.parse(body))

async function pendingOf(id: string) {
  const listed = (await listEndpoints(database.pool)).find((endpoint) => endpoint.id === id)
  if (!listed) throw new Error('Endpoint not found')
  return listed
}
const expectPending = async (id: string, owed: { waiting: number; givenUp: number }) =>
  expect(await pendingOf(id)).toMatchObject(owed)
/** Makes all waiting deliveries due now. */
const passTime = (id: string) =>
  database.pool.query(
    `update webhook_deliveries set next_at = clock_timestamp() where endpoint_id = $1 and next_at is not null`,
    [id],
  )

test('each change of a swap is posted, signed, to the endpoint of its account and to no other', async () => {
  const { id, accountId, secret } = await addEndpoint()
  const other = await addEndpoint(`${receiver.url}/other`)
  const { step } = await startProcess()
  const swap = await insertTestSwap(database.pool, accountId)
  await settleTestSwap(database.pool, swap)

  await step()
  expect(receiver.received).toHaveLength(5)

  expect(receiver.received.every((received) => isGenuine(received, secret))).toBe(true)
  expect(receiver.received.some((received) => isGenuine(received, other.secret))).toBe(false)
  const told = bodies().sort((a, b) => a.sequence - b.sequence)
  for (const event of told) expect(Check(WebhookEvent, event)).toBe(true)
  expect(told.map(({ type, sequence }) => `${sequence} ${type}`)).toEqual([
    '1 swap.accepted',
    '2 swap.locking',
    '3 swap.locked',
    '4 swap.delivering',
    '5 swap.settled',
  ])
  expect(told.at(-1)?.data).toMatchObject({ swapId: swap.swapId, status: 'settled', walletAddress: 'wallet' })
  expect(new Set(idsOf()).size).toBe(5)
  for (const { path, headers } of receiver.received) {
    expect(path).toBe('/hook')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(new RegExp(`^msg_${id}_\\d+$`)),
    })
  }
  await expectPending(id, { waiting: 0, givenUp: 0 })
})

test('only rejected events are posted again, with the same id and body', async () => {
  const { id, accountId, secret } = await addEndpoint()
  const { step } = await startProcess()
  await settleTestSwap(database.pool, await insertTestSwap(database.pool, accountId))
  receiver.answer(({ body }) => (JSON.parse(body).type === 'swap.locked' ? 500 : 200))
  await step()
  expect(receiver.received).toHaveLength(5)
  await expectPending(id, { waiting: 1, givenUp: 0 })
  const refused = receiver.received.find(({ body }) => JSON.parse(body).type === 'swap.locked')

  await step()
  receiver.answer(200)
  await passTime(id)
  await step()
  expect(receiver.received).toHaveLength(6)

  const again = receiver.received.at(-1)
  expect(again?.headers['webhook-id']).toBe(refused?.headers['webhook-id'])
  expect(again?.body).toBe(refused?.body)
  expect(again && isGenuine(again, secret)).toBe(true)
  await expectPending(id, { waiting: 0, givenUp: 0 })
})

test('the next attempt waits for its time', async () => {
  const { id, accountId } = await addEndpoint()
  const { step } = await startProcess()
  await insertTestSwap(database.pool, accountId)
  receiver.answer(500)
  await step()
  await expectPending(id, { waiting: 1, givenUp: 0 })

  const { rows } = await database.pool.query(
    `select attempts, extract(epoch from next_at - clock_timestamp())::int as seconds
       from webhook_deliveries where endpoint_id = $1`,
    [id],
  )

  expect(rows).toEqual([{ attempts: 1, seconds: expect.any(Number) }])
  expect(rows[0].seconds).toBeGreaterThanOrEqual(3)
  expect(rows[0].seconds).toBeLessThanOrEqual(5)
})

test('after the last attempt the event is given up, until it is replayed', async () => {
  const { id, accountId } = await addEndpoint()
  const { step } = await startProcess()
  await insertTestSwap(database.pool, accountId)
  receiver.answer(500)
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await step()
    await passTime(id)
  }
  expect(receiver.received).toHaveLength(10)
  expect(await pendingOf(id)).toMatchObject({ waiting: 0, givenUp: 1, lastFailure: 'it answered 500' })

  receiver.answer(200)
  expect(await replay(database.pool, id, { failed: true })).toBe(1)
  await step()
  expect(receiver.received).toHaveLength(11)

  expect(new Set(idsOf()).size).toBe(1)
  await expectPending(id, { waiting: 0, givenUp: 0 })
})

test('events of a crashed process are not lost: the next process posts them again', async () => {
  const { id, accountId } = await addEndpoint()
  await insertTestSwap(database.pool, accountId)
  receiver.answer('hang')
  const dead = await startProcess()
  await dead.start()
  await arrived(1)
  await dead.stop()
  expect(await pendingOf(id)).toMatchObject({ waiting: 1, failingSince: null })

  await database.pool.query(`update lanes set expires_at = '-infinity'`)
  const next = await startProcess()
  receiver.answer(204)
  await dead.step()
  await passTime(id)
  await dead.step()
  expect(receiver.received).toHaveLength(1)
  await next.step()
  expect(receiver.received).toHaveLength(2)

  expect(new Set(idsOf()).size).toBe(1)
  await expectPending(id, { waiting: 0, givenUp: 0 })
})

test('a slow endpoint does not delay another', async () => {
  const slow = await addEndpoint(`${receiver.url}/slow`)
  const quick = await addEndpoint(`${receiver.url}/quick`)
  const { start, stop } = await startProcess()
  receiver.answer(({ path }) => (path.endsWith('/slow') ? 'hang' : 200))
  await insertTestSwap(database.pool, slow.accountId)
  await start()
  await arrived(1)

  await insertTestSwap(database.pool, quick.accountId)
  await start()

  await vi.waitFor(() => expectPending(quick.id, { waiting: 0, givenUp: 0 }), 10_000)
  await stop()
})

describe('an endpoint is disabled', () => {
  test('at once if it answers 410; pending events are given up, and new ones are not queued', async () => {
    const { id, accountId } = await addEndpoint()
    const { step, onDisabled } = await startProcess()
    const swap = await insertTestSwap(database.pool, accountId)
    receiver.answer(410)
    await step()
    expect(onDisabled).toHaveBeenCalledWith(id, 'it answered 410')

    await settleTestSwap(database.pool, swap)
    await step()

    expect(await pendingOf(id)).toMatchObject({ disabledBecause: 'it answered 410', waiting: 0, givenUp: 1 })
    expect(receiver.received).toHaveLength(1)
  })

  test('if it accepted nothing for three days, and works again once enabled and replayed', async () => {
    const { id, accountId } = await addEndpoint()
    const { step, onDisabled } = await startProcess()
    await insertTestSwap(database.pool, accountId)
    receiver.answer(500)
    await step()
    expect((await pendingOf(id)).failingSince).not.toBeNull()
    await database.pool.query(
      `update webhook_endpoints set failing_since = clock_timestamp() - interval '73 hours' where id = $1`,
      [id],
    )
    await passTime(id)
    await step()
    expect(onDisabled).toHaveBeenCalledWith(id, 'it accepted nothing for 72 hours')

    receiver.answer(200)
    await enableEndpoint(database.pool, id)
    await replay(database.pool, id, { failed: true })
    await step()
    expect(receiver.received).toHaveLength(3)

    await expectPending(id, { waiting: 0, givenUp: 0 })
    expect(await pendingOf(id)).toMatchObject({ disabledAt: null, failingSince: null })
  })

  test('if it accepts nothing while too many events are pending', async () => {
    const [failing, healthy] = [await addEndpoint(), await addEndpoint(`${receiver.url}/healthy`)]
    const { step } = await startProcess()
    receiver.answer(({ path }) => (path.endsWith('/healthy') ? 200 : 500))
    for (const { accountId } of [failing, healthy]) {
      await settleTestSwap(database.pool, await insertTestSwap(database.pool, accountId))
    }
    await step()
    await expectPending(failing.id, { waiting: 5, givenUp: 0 })
    await expectPending(healthy.id, { waiting: 0, givenUp: 0 })
    await replay(database.pool, healthy.id, { since: new Date(0) })

    expect(await findOverloaded(database.pool, 4)).toEqual([failing.id])
    expect(await findOverloaded(database.pool, 5)).toEqual([])
  })

  test('not while it accepts some events', async () => {
    const { id, accountId } = await addEndpoint()
    const { step } = await startProcess()
    await database.pool.query(
      `update webhook_endpoints set failing_since = clock_timestamp() - interval '73 hours' where id = $1`,
      [id],
    )
    await settleTestSwap(database.pool, await insertTestSwap(database.pool, accountId))
    receiver.answer(({ body }) => (JSON.parse(body).sequence === 1 ? 200 : 500))
    await step()
    await expectPending(id, { waiting: 4, givenUp: 0 })

    expect(await pendingOf(id)).toMatchObject({ disabledAt: null, failingSince: null })
  })
})

describe('a replay', () => {
  test('posts a swap, or everything since a time, again with the original ids', async () => {
    const { id, accountId } = await addEndpoint()
    const { step } = await startProcess()
    const [first, second] = [
      await insertTestSwap(database.pool, accountId),
      await insertTestSwap(database.pool, accountId),
    ]
    await step()
    expect(receiver.received).toHaveLength(2)
    await expectPending(id, { waiting: 0, givenUp: 0 })

    expect(await replay(database.pool, id, { swapId: second.swapId })).toBe(1)
    expect(await replay(database.pool, id, { since: new Date(0) })).toBe(2)
    expect(await replay(database.pool, id, { since: new Date(Date.now() + 60_000) })).toBe(0)
    await step()
    expect(receiver.received).toHaveLength(4)

    expect(new Set(idsOf()).size).toBe(2)
    expect(bodies().map(({ data }) => data.swapId)).toEqual(
      expect.arrayContaining([first.swapId, second.swapId]),
    )
  })

  test('does not include swaps of another account', async () => {
    const { id } = await addEndpoint()
    const foreign = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
    const { step } = await startProcess()
    await step()

    expect(await replay(database.pool, id, { swapId: foreign.swapId })).toBe(0)
    expect(await replay(database.pool, id, { since: new Date(0) })).toBe(0)
  })
})

describe('secrets', () => {
  test('after a rotation both sign, until the old one expires', async () => {
    const { id, accountId, secret: old } = await addEndpoint()
    const { step } = await startProcess()
    const secret = createWebhookSecret()
    await rotateSecret(database.pool, { id, secret: seal.seal(accountId, secret), hours: 24 })
    await insertTestSwap(database.pool, accountId)
    await step()
    await expectPending(id, { waiting: 0, givenUp: 0 })

    await database.pool.query(
      `update webhook_endpoints set previous_until = clock_timestamp() where id = $1`,
      [id],
    )
    await insertTestSwap(database.pool, accountId)
    await step()

    const genuine = receiver.received.map((one) => [isGenuine(one, secret), isGenuine(one, old)])
    expect(genuine).toEqual([
      [true, true],
      [true, false],
    ])
  })

  test('are sealed in the database, and resealed when the sealing key changes', async () => {
    const { id, accountId, secret } = await addEndpoint()
    const { rows } = await database.pool.query(
      'select row_to_json(w) as row from webhook_endpoints w where id = $1',
      [id],
    )
    expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length))
    const second = { id: 'k2', key: randomBytes(32) }
    const faults = vi.fn()

    await resealAll(database.pool, createSecretSeal(createSealer({ keys: [second, ...keys] })), faults)
    await resealAll(database.pool, createSecretSeal(createSealer({ keys: [second] })), faults)

    const resealed = await findEndpoint(database.pool, id)
    const later = createSecretSeal(createSealer({ keys: [second] }))
    expect(later.open(accountId, resealed?.secret ?? '')).toBe(secret)
    expect(faults).not.toHaveBeenCalled()
  })

  test('a new one signs at once, although the key of the old one is gone', async () => {
    const { id, accountId, secret: old } = await addEndpoint()
    const later = createSecretSeal(createSealer({ keys: [{ id: 'k2', key: randomBytes(32) }] }))
    const { step } = await startProcess({ openSecret: later.open })
    const secret = createWebhookSecret()
    await rotateSecret(database.pool, { id, secret: later.seal(accountId, secret), hours: 24 })
    await insertTestSwap(database.pool, accountId)
    await step()

    const genuine = receiver.received.map((one) => [isGenuine(one, secret), isGenuine(one, old)])
    expect(genuine).toEqual([[true, false]])
  })

  test('one that cannot be opened is a failure of its endpoint, and nothing is posted', async () => {
    const { id, accountId } = await addEndpoint()
    const stranger = createSecretSeal(createSealer({ keys: [{ id: 'k1', key: randomBytes(32) }] }))
    const { step } = await startProcess({ openSecret: stranger.open })
    await insertTestSwap(database.pool, accountId)
    await step()

    expect((await pendingOf(id)).lastFailure).toBe('its secret was sealed with a key that is gone')
    expect(receiver.received).toEqual([])
  })
})

test('each event is posted once by several processes that hold the lane in turn', async () => {
  const { id, accountId } = await addEndpoint()
  const runners = [1, 2, 3].map(() => createTestRunner(database.pool, seal.open))
  for (const runner of runners) await runner.start()
  for (let count = 0; count < 20; count += 1) await insertTestSwap(database.pool, accountId)

  await arrived(20)
  await vi.waitFor(() => expectPending(id, { waiting: 0, givenUp: 0 }), 10_000)

  expect(new Set(idsOf()).size).toBe(20)
  expect(receiver.received).toHaveLength(20)
  for (const runner of runners) await runner.stop()
})
