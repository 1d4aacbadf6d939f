import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../../../test/support/database.ts'
import { leaseConnectionSlots } from '../../store/lanes.ts'
import { type ConnectionSlots, createConnectionSlots } from './connection-slots.ts'

const database = useTestDatabase()

const MOST = 200

/** An API process on the shared database. */
function startProcess({ ttlMs = 60_000 } = {}): ConnectionSlots {
  const shared = { process: randomUUID(), most: MOST, ttlMs }
  const lease = (accountId: string, want: number) =>
    leaseConnectionSlots(database.pool, { ...shared, accountId, want })
  return createConnectionSlots({ maxHeldPerAccount: MOST, lease })
}

/** Returns how many of these concurrent callers are held. */
async function holdAtOnce(slots: ConnectionSlots, accountId: string, callers: number): Promise<number> {
  const taken = await Promise.allSettled(
    Array.from({ length: callers }, async () => slots.acquire(accountId)),
  )
  return taken.filter(({ status }) => status === 'fulfilled').length
}

test('an account may hold all of its slots at one process, and no more', async () => {
  const account = randomUUID()

  expect(await holdAtOnce(startProcess(), account, MOST + 30)).toBe(MOST)
})

test('two processes together hold as many callers of an account as one, within a few', async () => {
  const account = randomUUID()
  const [one, two] = [startProcess(), startProcess()]

  const held = await Promise.all([holdAtOnce(one, account, MOST), holdAtOnce(two, account, MOST)])

  expect(one.count() + two.count()).toBe(held[0] + held[1])
  expect(one.count() + two.count()).toBeGreaterThanOrEqual(MOST - 50)
  expect(one.count() + two.count()).toBeLessThanOrEqual(MOST + 20)
})

test('slots that one process released, or held when it died, are available to another', async () => {
  const account = randomUUID()
  const [quits, dies, last] = [startProcess(), startProcess({ ttlMs: 0 }), startProcess()]
  await holdAtOnce(quits, account, MOST)
  for (let left = MOST; left > 0; left -= 1) quits.release(account)
  await quits.renew()
  await holdAtOnce(dies, account, MOST)

  expect(quits.count()).toBe(0)
  expect(dies.count()).toBe(MOST)
  expect(await holdAtOnce(last, account, MOST)).toBe(MOST)
})

test('an account does not use the slots of another', async () => {
  const slots = startProcess()
  await holdAtOnce(slots, randomUUID(), MOST)

  expect(await holdAtOnce(slots, randomUUID(), MOST)).toBe(MOST)
})
