import { afterAll, beforeAll, expect, test } from 'vitest'
import { findToDeliver, findToLock } from './swaps.ts'
import { insertTestAccount, startTestDatabase, type TestDatabase } from './test-database.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from './test-swaps.ts'

let database: TestDatabase
let crowd: TestSwap[]
let single: TestSwap

beforeAll(async () => {
  database = await startTestDatabase()
  const [loud, quiet] = [await insertTestAccount(database.pool), await insertTestAccount(database.pool)]
  crowd = []
  for (let index = 0; index < 50; index += 1) crowd.push(await insertTestSwap(database.pool, loud))
  single = await insertTestSwap(database.pool, quiet)
})
afterAll(() => database.stop())

const toLock = { chainId: 31337, locker: 'locker', limit: 4 }
const toDeliver = { chainId: 31338, limit: 4 }
const idsOf = (swaps: readonly { id: string }[]) => swaps.map(({ id }) => id)

/** The oldest of the crowd, then the only one of the other account though all of the crowd came before it. */
const inTurn = () => [crowd[0], single, crowd[1], crowd[2]].map((swap) => swap?.swapId)

test('an account whose one swap waits behind fifty of another is locked second', async () => {
  expect(idsOf(await findToLock(database.pool, toLock))).toEqual(inTurn())
})

test('an account whose one swap waits behind fifty of another is paid second', async () => {
  for (const swap of [...crowd, single]) {
    await moveTestSwap(database.pool, swap, 'lockRecorded')
    await moveTestSwap(database.pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  }

  expect(idsOf(await findToDeliver(database.pool, toDeliver))).toEqual(inTurn())
})
