import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { startStrangersWorld } from '../../test/support/strangers.ts'
import { insertTestOp } from '../../test/support/swaps.ts'
import { readCursor } from '../store/chain-events.ts'
import { scanEvents } from './scan.ts'

const database = useTestDatabase()
const world = await startStrangersWorld()
afterAll(() => world.stop())
const { chain, chainId } = world
const stranger = privateKeyToAddress(generatePrivateKey())

beforeEach(() => database.pool.query('truncate chain_events, chain_cursors, swaps, ops cascade'))

/** Scans up to the head. */
async function scan() {
  const { pool } = database
  const faults: unknown[] = []
  const heads = await chain.readHeads()
  await scanEvents({ pool, chain, overlap: 4n, undo: async () => {} }, heads, faults)
  expect(faults).toEqual([])
  expect(await readCursor(pool, chainId)).toBe(heads.head.number)
  const { rows } = await pool.query('select kind, id, amount from chain_events order by kind, id')
  return rows
}

test('a transaction that recovers one op twice is scanned like any other', async () => {
  const { op, hash, address } = world.opBy(stranger, stranger, { index: BigInt(Date.now()) << 32n })
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query(`update ops set hash = $2, method = 'deposit' where id = $1`, [opId, hash])
  await scan()

  const txHash = await world.run(stranger, [
    ...[world.mint(address, 5n), world.recover(op)],
    ...[world.mint(address, 6n), world.recover(op)],
  ])

  expect(await scan()).toEqual([{ kind: 'recovered', id: `${hash}/${world.token}/${txHash}`, amount: '11' }])
})

test('a recovery of an op of strangers is not stored', async () => {
  const { op, address } = world.opBy(stranger, stranger, { index: BigInt(Date.now()) << 32n })
  await scan()

  await world.run(stranger, [world.mint(address, 5n), world.recover(op)])

  expect(await scan()).toEqual([])
})
