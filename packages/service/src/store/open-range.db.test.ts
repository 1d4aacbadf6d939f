import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import { transitions } from '../swap/lifecycle.ts'
import { findWatched, oldestOpenBlock } from './chain-events.ts'

const [ORIGIN, DESTINATION] = [31337, 31338]

const database = useTestDatabase()

type Facts = { state: string; block: number; originFinal?: boolean; deliveryFinal?: boolean }

/** Replaces all open swaps by these, built when both chains were at this block. */
async function replaceOpenSwaps(all: readonly Facts[]): Promise<void> {
  const { pool } = database
  await pool.query(`truncate swaps, ops, attempt_swaps cascade`)
  const accountId = await insertTestAccount(pool)
  for (const { state, block, originFinal = false, deliveryFinal = false } of all) {
    const { swapId } = await insertTestSwap(pool, accountId, state)
    await pool.query(
      `update swaps set state = $2, origin_final = $3, delivery_final = $4, proof = '{}', version = version + 1
        where id = $1`,
      [swapId, state, originFinal, deliveryFinal],
    )
    await pool.query(
      `update ops set origin_block = $2, destination_block = $2 where id = (select op_id from swaps where id = $1)`,
      [swapId, block],
    )
  }
}

const newest = { state: 'locked', block: 9 }

test.each([
  ['a swap without a confirmed lock', { state: 'locking', block: 1 }, [1n, 1n]],
  ['a delivery that is not final', { state: 'settled', block: 1, originFinal: true }, [9n, 1n]],
  ['a lock that is not final', { state: 'settled', block: 1, deliveryFinal: true }, [1n, 9n]],
  ['a refund in flight', { state: 'refunding', block: 1, originFinal: true }, [1n, 9n]],
  ['a blocked refund', { state: 'refundBlocked', block: 1, originFinal: true }, [9n, 9n]],
  ['a claim', { state: 'claiming', block: 1, originFinal: true, deliveryFinal: true }, [9n, 9n]],
])('for %s, chains that may still have events are read from its block', async (_, swap, blocks) => {
  await replaceOpenSwaps([swap, newest])

  const from = [
    await oldestOpenBlock(database.pool, ORIGIN),
    await oldestOpenBlock(database.pool, DESTINATION),
  ]

  expect(from).toEqual(blocks)
})

test('undefined if no swap waits for an event', async () => {
  await replaceOpenSwaps([{ state: 'refundBlocked', block: 1, originFinal: true }])

  expect(await oldestOpenBlock(database.pool, ORIGIN)).toBeUndefined()
})

test.each([
  [
    'that are not final',
    false,
    {
      locks: ['delivering', 'locked', 'locking', 'settled'],
      exits: ['claiming', 'refundBlocked', 'refundDecided', 'refunding'],
      deliveries: ['claiming', 'delivering', 'settled'],
    },
  ],
  [
    'that are final',
    true,
    { locks: [], exits: ['claiming', 'refundBlocked', 'refundDecided', 'refunding'], deliveries: [] },
  ],
])('a chain without logs is asked about transactions %s by their states', async (_, isFinal, asked) => {
  const facts = { block: 1, originFinal: isFinal, deliveryFinal: isFinal }
  await replaceOpenSwaps(Object.keys(transitions).map((state) => ({ state, ...facts })))
  const namesOf = async (chainId: number) => {
    const watched = Object.entries(await findWatched(database.pool, chainId))
    return Object.fromEntries(watched.map(([name, ops]) => [name, ops.map(({ wallet }) => wallet).sort()]))
  }

  expect(await namesOf(ORIGIN)).toEqual({ ...asked, deliveries: [] })
  expect(await namesOf(DESTINATION)).toEqual({ ...asked, locks: [], exits: [] })
})
