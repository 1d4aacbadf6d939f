import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { explaining } from '../../test/support/plans.ts'
import { inTransaction } from './db.ts'
import { freePositions, takePosition } from './ops.ts'

const database = useTestDatabase()
let chainId = 7_000

beforeEach(() => {
  chainId += 1
})

async function take(locker: string, isShared: boolean) {
  const opId = randomUUID()
  const { position, round } = await inTransaction(database.pool, (db) =>
    takePosition(db, { chainId, locker, isShared, opId }),
  )
  return { opId, slot: [position, round], free: () => freePositions(database.pool, [opId]) }
}

test('a locker that replaces another continues in their shared ring, beside open positions', async () => {
  const open = await take('old', true)
  const over = await take('old', true)
  await over.free()

  const [next, more] = [await take('new', true), await take('new', true)]

  expect([open.slot, over.slot]).toEqual([
    [0n, 1n],
    [1n, 1n],
  ])
  expect([next.slot, more.slot]).toEqual([
    [1n, 2n],
    [2n, 1n],
  ])
})

test('a locker with a ring of its own starts at position 0', async () => {
  await take('old', false)

  expect((await take('new', false)).slot).toEqual([0n, 1n])
})

test('a position that is free on another chain is not taken', async () => {
  const elsewhere = await take('old', false)
  await elsewhere.free()
  chainId += 1

  const [first, second] = [await take('old', false), await take('old', false)]

  expect([first.slot, second.slot]).toEqual([
    [0n, 1n],
    [1n, 1n],
  ])
})

test('no position of a shared ring is issued twice, also concurrently', async () => {
  const lockers = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? 'old' : 'new'))

  const taken = await Promise.all(lockers.map((locker) => take(locker, true)))

  expect(new Set(taken.map(({ slot: [position] }) => position)).size).toBe(12)
})

test('a position with rows of two lockers is taken once, above both of their rounds', async () => {
  await database.pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round)
     values ($1, 'old', 0, 7), ($1, 'new', 0, 3)`,
    [chainId],
  )

  const [first, second] = [await take('new', true), await take('new', true)]

  expect(first.slot).toEqual([0n, 8n])
  expect(second.slot).toEqual([1n, 1n])
})

test('positions are freed without a look at those of other ops', async () => {
  const { pool } = database
  await pool.query(
    `insert into ring_positions (chain_id, locker, position, last_round, op_id)
     select $1, 'busy', n, 1, gen_random_uuid() from generate_series(1, 20000) n`,
    [chainId],
  )
  await pool.query('vacuum analyze ring_positions')
  const { db, plans } = explaining(pool)

  await freePositions(db, [randomUUID()])

  expect(plans.join()).toContain('ring_positions_by_op')
  expect(plans.join()).not.toContain('Seq Scan on ring_positions')
})
