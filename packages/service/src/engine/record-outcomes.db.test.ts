import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import type { Block, Heads } from '../chains/chain.ts'
import type { Attempt } from '../store/attempts.ts'
import { readSwapTimes } from '../store/ended-swaps.ts'
import { sharedReadsOf } from '../store/shared-reads.ts'
import { findSwaps } from '../store/swaps.ts'
import { createTimeKeeper } from './books.ts'
import { recordOutcomes } from './record-outcomes.ts'

const database = useTestDatabase()

const blockAt = (number: bigint): Block => ({ number, height: number, hash: `0x${number}`, seconds: 0 })
const heads: Heads = { head: blockAt(9n), settle: blockAt(8n), hard: blockAt(2n) }

/** Whether each recorded attempt of the key is consumed, oldest first. */
async function readConsumed(sender: string): Promise<boolean[]> {
  const open = await sharedReadsOf(database.pool).openAttempts({ chainId: 31337, address: sender })
  return open.map(({ isConsumed }) => isConsumed)
}

test('a nonce consumed at settle depth stays recorded until a reorg returns it or it is final', async () => {
  const { pool } = database
  const sender = 'noted'
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const replacement of [0, 1]) await insertTestAttempt(pool, swap, 'lock', { sender, replacement })
  const open = () => sharedReadsOf(pool).openAttempts({ chainId: 31337, address: sender })
  const none: Attempt[] = []

  const seen = [await readConsumed(sender)]
  await recordOutcomes(pool, await open(), { final: none, consumed: await open() }, heads)
  seen.push(await readConsumed(sender))
  await recordOutcomes(pool, await open(), { final: none, consumed: none }, heads)
  seen.push(await readConsumed(sender))
  await recordOutcomes(pool, await open(), { final: await open(), consumed: none }, heads)
  seen.push(await readConsumed(sender))

  expect(seen).toEqual([[false, false], [true, true], [false, false], []])
})

test('the block at which a nonce was first seen as consumed stays recorded', async () => {
  const { pool } = database
  const sender = 'consumed'
  await insertTestAttempt(pool, await insertTestSwap(pool, await insertTestAccount(pool)), 'lock', { sender })
  const open = () => sharedReadsOf(pool).openAttempts({ chainId: 31337, address: sender })

  for (const settle of [8n, 9n])
    await recordOutcomes(
      pool,
      await open(),
      { final: [], consumed: await open() },
      { ...heads, settle: blockAt(settle) },
    )

  const { rows } = await pool.query('select consumed_block as block from tx_attempts where sender = $1', [
    sender,
  ])
  expect(rows).toEqual([{ block: '8' }])
})

test('of thousands of mined attempts the first and the last are read, and all unmined ones', async () => {
  const { pool } = database
  const sender = 'busy'
  await pool.query(
    `insert into tx_attempts (chain_id, sender, nonce, replacement, role, tx_hash, raw, request, effect_hash,
                              consumed_block)
     select 31337, $1, n, 0, 'noop', 'busy-' || n, '0x', '{"sentAtBlock": "0"}', '', case when n < 3000 then 1 end
       from generate_series(0, 3004) as n`,
    [sender],
  )

  const open = await sharedReadsOf(pool).openAttempts({ chainId: 31337, address: sender })

  expect(open.map(({ nonce }) => nonce)).toEqual([
    ...Array.from({ length: 200 }, (_, index) => index),
    ...Array.from({ length: 25 }, (_, index) => 2_980 + index),
  ])
})

test('the time of a settled swap is recorded once, with whether it was late, by the depth of its lock', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  const [settled] = await findSwaps(pool, [swap.swapId])
  if (!settled) throw new Error('Swap not found')
  await pool.query("update swaps set created_at = created_at - interval '9 seconds' where id = $1", [
    swap.swapId,
  ])
  const finality = { accept: [{ depth: 2 }], settle: 1, reorgWindowSeconds: 0, hard: 64, hardSeconds: 64 }
  const told: string[] = []
  // Two blocks, one more, and a second: four. Nine seconds are more than twice that.
  const { note, task } = createTimeKeeper({
    ...{ pool, endOf: () => ({ finality, blockSeconds: 1 }) },
    onSettled: (promise) => void told.push(promise),
  })
  const step = () => task.step({ name: '', holder: '', fence: '' }, () => {})

  for (const exposedCents of [1n, 0n]) note({ ...settled, exposedCents })
  await step()
  await step()

  const times = (await readSwapTimes(pool)).map(({ depth, durationsMs }) => [depth, durationsMs.length])
  expect(times.sort()).toEqual([
    [2, 1],
    [64, 1],
  ])
  expect(told.sort()).toEqual(['kept', 'late'])
})
