import { beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import {
  advanceLedger,
  findBooked,
  findBookedLocks,
  findLedgerCursor,
  findOpRecords,
  findUnbookedDeliveries,
  insertMovements,
  type NewMovement,
  openLedger,
  readLedgerAges,
  readLedgerBalances,
  readLedgerStart,
  sumHeldInputs,
} from './ledger.ts'
import { endDriftStops, findActiveStops, raiseStop, resumeStop } from './stops.ts'

const [ORIGIN, DESTINATION] = [31_337, 31_338]

const database = useTestDatabase()
// Rows of any state; and books that a test may empty.
beforeAll(() =>
  database.pool.query(
    'alter table swaps disable trigger user; alter table ledger_movements disable trigger keep_all_ledger_movements',
  ),
)
beforeEach(() =>
  database.pool.query('truncate swaps, ops, ledger_movements, ledger_balances, ledger_cursors cascade'),
)

async function insert(swap: string, op = 'destination_block = 6'): Promise<string> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query(`update swaps set ${swap} where id = $1`, [swapId])
  await pool.query(`update ops o set ${op} from swaps s where s.op_id = o.id and s.id = $1`, [swapId])
  return swapId
}

const hashOf = async (swapId: string): Promise<string> =>
  (
    await database.pool.query('select hash from ops o join swaps s on s.op_id = o.id where s.id = $1', [
      swapId,
    ])
  ).rows[0].hash

let parts = 0
const movement = (change: Partial<NewMovement> = {}): NewMovement => {
  parts += 1
  return {
    ...{ source: '0xtx', part: parts, block: 7n, kind: 'locked', token: 'input', amount: 10n },
    ...{ debit: 'wallet', credit: 'locked' },
    ...change,
  }
}

test('the books of a chain are opened once, and go on from the block where they ended', async () => {
  const { pool } = database
  expect(await findLedgerCursor(pool, ORIGIN)).toBeUndefined()
  expect(await openLedger(pool, { chainId: ORIGIN, block: 5n })).toBe(true)
  expect(await openLedger(pool, { chainId: ORIGIN, block: 9n })).toBe(false)
  await openLedger(pool, { chainId: DESTINATION, block: 5n })

  expect(await advanceLedger(pool, { chainId: ORIGIN, from: 4n, to: 8n })).toBe(false)
  expect(await advanceLedger(pool, { chainId: ORIGIN, from: 5n, to: 8n })).toBe(true)

  expect(await findLedgerCursor(pool, ORIGIN)).toEqual({ openedBlock: 5n, block: 8n })
  expect(await findLedgerCursor(pool, DESTINATION)).toEqual({ openedBlock: 5n, block: 5n })
})

test('the age of the books is the time since their chain was read', async () => {
  const { pool } = database
  await openLedger(pool, { chainId: ORIGIN, block: 5n })
  await pool.query(`update ledger_cursors set read_at = clock_timestamp() - interval '100 seconds'`)

  const [age] = await readLedgerAges(pool)

  expect(age?.chainId).toBe(ORIGIN)
  expect(age?.seconds).toBeGreaterThanOrEqual(100)
  expect(age?.seconds).toBeLessThan(160)
})

test('a movement is booked once, and moves the balances of its chain', async () => {
  const { pool } = database
  const [first, second] = [movement(), movement({ source: '0xother', opHash: 'op', swapId: 'swap' })]

  expect(await insertMovements(pool, ORIGIN, [])).toBe(0)
  expect(await insertMovements(pool, ORIGIN, [first])).toBe(1)
  expect(await insertMovements(pool, ORIGIN, [first, second])).toBe(1)
  expect(await insertMovements(pool, DESTINATION, [first])).toBe(1)

  expect(await findBooked(pool, ORIGIN, ['0xtx'])).toEqual([{ source: '0xtx', part: first.part }])
  const amounts = (await readLedgerBalances(pool, ORIGIN)).map(({ account, amount }) => [account, amount])
  expect(amounts.sort()).toEqual([
    ['locked', 20n],
    ['wallet', -20n],
  ])
  expect(await readLedgerBalances(pool)).toHaveLength(4)
  expect((await pool.query('select op_hash, swap_id from ledger_movements order by id')).rows).toEqual([
    { op_hash: null, swap_id: null },
    { op_hash: 'op', swap_id: 'swap' },
    { op_hash: null, swap_id: null },
  ])
})

test('booked locks are those of these ops, and no other movements of them', async () => {
  const { pool } = database
  await insertMovements(pool, ORIGIN, [
    movement({ opHash: 'a' }),
    movement({ opHash: 'b', kind: 'claimed' }),
    movement({ opHash: 'c' }),
  ])

  const locked = await findBookedLocks(pool, ['a', 'b'])

  expect([...locked]).toEqual([['a', { token: 'input', amount: 10n }]])
})

test('an op is found by its hash and by that of its delivery, submitted or not', async () => {
  const { pool } = database
  const swapId = await insert('version = 1')
  await pool.query(`update ops set hash = 'op', delivery_hash = 'delivery'`)
  await insert('version = 1')

  expect(await findOpRecords(pool, [])).toEqual([])
  for (const name of ['op', 'delivery'])
    expect(await findOpRecords(pool, [name])).toMatchObject([
      { hash: 'op', deliveryHash: 'delivery', swapId, inputAmount: 1_000n, payAmount: 990n },
    ])
})

test.each([
  ['of another origin', 'origin_chain = 5'],
  ['that is not final', 'origin_final = false'],
  ['of a swap that ended', `state = 'closed'`],
])('an input %s does not have to be in the escrow', async (_, change) => {
  const held = await insert('origin_final = true')
  const other = await insert('origin_final = true')
  await database.pool.query(`update swaps set ${change} where id = $1`, [other])

  expect((await readLedgerStart(database.pool, ORIGIN)).held).toEqual([held])
})

test('inputs add up by token, until their exit is booked', async () => {
  const { pool } = database
  const ids = [await insert('version = 1'), await insert('version = 1'), await insert('version = 1')]
  const [first = '', second = '', third = ''] = ids
  await insert('version = 1')
  await insertMovements(pool, ORIGIN, [movement({ opHash: await hashOf(first), kind: 'locked' })])
  expect(await sumHeldInputs(pool, ids)).toEqual([{ token: 'input', amount: 3_000n }])

  await insertMovements(pool, ORIGIN, [
    movement({ opHash: await hashOf(second), kind: 'claimed' }),
    movement({ opHash: await hashOf(third), kind: 'refunded' }),
  ])
  expect(await sumHeldInputs(pool, ids)).toEqual([{ token: 'input', amount: 1_000n }])
})

test.each([
  ['to another destination', 'destination_chain = 5', undefined],
  ['that is not final', 'delivery_final = false', undefined],
  ['of a swap that is closed', `state = 'closed'`, undefined],
  ['from before the books', 'version = 1', 'destination_block = 5'],
])('a delivery %s does not have to be in the books', async (_, change, op) => {
  const { pool } = database
  for (const chainId of [DESTINATION, 5]) await openLedger(pool, { chainId, block: 5n })
  const paid = `state = 'settled', delivery_final = true`
  const [listed, other] = [await insert(paid), await insert(paid, op)]
  await pool.query(`update swaps set ${change} where id = $1`, [other])

  expect((await readLedgerStart(pool, DESTINATION)).delivered).toEqual([listed])
})

test('a delivery is missing in the books until it is booked, whatever else is', async () => {
  const { pool } = database
  const [first, second] = [await insert('version = 1'), await insert('version = 1')]
  await insert('version = 1')
  await insertMovements(pool, ORIGIN, [
    movement({ opHash: await hashOf(first), kind: 'delivered' }),
    movement({ opHash: await hashOf(second), kind: 'locked' }),
  ])

  expect(await findUnbookedDeliveries(pool, [first, second])).toEqual([{ id: second, token: 'output' }])
})

type Scope = Parameters<typeof raiseStop>[1]['scope']
const raise = (scope: Scope, why: 'operator' | 'drift' = 'operator', note = 'note') =>
  raiseStop(database.pool, { why, scope, note, by: 'somebody' })
const activeStops = async () => (await findActiveStops(database.pool)).map(({ id }) => id)

test.each<[Scope]>([
  [{ kind: 'part' }],
  [{ kind: 'part', chainId: 1 }],
  [{ kind: 'part', asset: 'usdc' }],
  [{ kind: 'part', chainId: 1, asset: 'usdc' }],
  [{ kind: 'route', from: { chainId: 1, token: 'a' }, to: { chainId: 2, token: 'b' } }],
])('a stop of %j is raised once, and once more for another reason', async (scope) => {
  const { pool } = database
  await pool.query('delete from quote_stops')
  await raise({ kind: 'part', chainId: 9 })

  const first = await raise(scope)
  expect(first.isNew).toBe(true)
  expect(await raise(scope)).toEqual({ id: first.id, isNew: false })
  const drift = await raise(scope, 'drift')
  expect(drift.isNew).toBe(true)

  const active = (await findActiveStops(pool)).find(({ id }) => id === first.id)
  expect(active).toMatchObject({ why: 'operator', note: 'note', by: 'somebody' })
  expect(active?.scope).toEqual(scope)
  const end = { id: first.id, by: 'somebody', note: 'over' }
  expect([await resumeStop(pool, end), await resumeStop(pool, end)]).toEqual([true, false])
  expect(await activeStops()).toHaveLength(2)
  expect((await raise(scope)).isNew).toBe(true)
})

test('a stop of a drift ends with it: on its chain, of its asset and with its note', async () => {
  const { pool } = database
  await pool.query('delete from quote_stops')
  const scope = { kind: 'part', chainId: 1, asset: 'usdc' } as const
  const ended = await raise(scope, 'drift', 'missing 5')
  const others = [
    await raise(scope, 'operator', 'missing 5'),
    await raise({ ...scope, chainId: 2 }, 'drift', 'missing 5'),
    await raise({ ...scope, asset: 'eurc' }, 'drift', 'missing 5'),
  ]
  const end = (note: string) => endDriftStops(pool, { chainId: 1, asset: 'usdc', note })

  expect([await end('surplus'), await end('missing'), await end('missing')]).toEqual([[], [ended.id], []])
  expect(await activeStops()).toEqual(others.map(({ id }) => id))
})
