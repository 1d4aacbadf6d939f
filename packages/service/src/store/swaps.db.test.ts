import { beforeAll, beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap } from '../../test/support/swaps.ts'
import type { Db } from './db.ts'
import { findPastDeposits } from './deposits.ts'
import {
  findAwaiting,
  findForgottenDeliveries,
  findOpenAfter,
  findOrphans,
  findPaidUnlocked,
  findStalledDeliveries,
  findStalledLocks,
  findToDeliver,
  findToLock,
  findToPropose,
  findUndelivered,
  findUndeposited,
  findUnlocked,
} from './swaps.ts'

const [ORIGIN, DESTINATION] = [31_337, 31_338]
const at = { hard: 10n, settle: 20n }

const database = useTestDatabase()
// Rows of any state, also such as no worker could reach here.
beforeAll(() => database.pool.query('alter table swaps disable trigger user'))
beforeEach(() => database.pool.query('truncate swaps, ops, tx_attempts, attestations cascade'))

/** SQL assignments of a swap, and those of its op. */
type Row = { swap?: string; op?: string }

async function insert({ swap, op }: Row): Promise<string> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  if (swap) await pool.query(`update swaps set ${swap} where id = $1`, [swapId])
  if (op) await pool.query(`update ops o set ${op} from swaps s where s.op_id = o.id and s.id = $1`, [swapId])
  return swapId
}

type List = {
  find(db: Db): Promise<readonly { id: string }[]>
  /** A swap that is listed. */
  row: Row
  /** Swaps that differ from it in one point, and are not listed. */
  but: Record<string, Row>
}

const elsewhere = { 'of another origin': { swap: `origin_chain = 5`, op: `origin_chain = 5` } }
const paidElsewhere = { 'to another destination': { swap: 'destination_chain = 5' } }
const settled = "state = 'settled', origin_final = true, delivery_final = true"

const lists: Record<string, List> = {
  'swaps without a known lock': {
    find: (db) => findUnlocked(db, ORIGIN),
    row: { swap: `state = 'locking'` },
    but: {
      ...elsewhere,
      'with a lock in a block': { swap: 'locked_block = 1' },
      'with a final lock': { swap: 'origin_final = true' },
      'that failed': { swap: `state = 'failed'` },
    },
  },
  'paid swaps without a known lock': {
    find: (db) => findPaidUnlocked(db, ORIGIN),
    row: { swap: `state = 'settled', delivery_final = true` },
    but: {
      ...elsewhere,
      'with a lock in a block': { swap: 'locked_block = 1' },
      'with a final lock': { swap: 'origin_final = true' },
      'whose delivery is not final': { swap: 'delivery_final = false' },
      'that is closed': { swap: `state = 'closed'` },
    },
  },
  'swaps that wait for their deposit': {
    find: (db) => findAwaiting(db, { chainId: ORIGIN, after: undefined, limit: 9 }),
    row: { swap: `state = 'awaitingDeposit'` },
    but: { ...elsewhere, 'with their deposit': { swap: `state = 'accepted'` } },
  },
  'swaps whose deposit did not come in time': {
    find: (db) => findUndeposited(db, { chainId: ORIGIN, seconds: 100 }),
    row: { swap: `state = 'awaitingDeposit'`, op: 'op_deadline = 99' },
    but: {
      ...elsewhere,
      'at their deadline': { op: 'op_deadline = 100' },
      'with their deposit': { swap: `state = 'accepted'` },
    },
  },
  'swaps by deposit whose deadline is past': {
    find: (db) =>
      findPastDeposits(db, { chainId: ORIGIN, seconds: 100, after: { opDeadline: 50, id: '' }, limit: 9 }),
    row: { swap: `state = 'failed'`, op: `method = 'deposit', op_deadline = 99` },
    but: {
      ...elsewhere,
      'at their deadline': { op: 'op_deadline = 100' },
      'before the place to go on from': { op: 'op_deadline = 49' },
      'that still wait': { swap: `state = 'awaitingDeposit'` },
      'by permit': { op: `method = 'permit'` },
    },
  },
  'swaps without a known delivery': {
    find: (db) => findUndelivered(db, DESTINATION),
    row: { swap: `state = 'delivering'` },
    but: {
      ...paidElsewhere,
      'with a delivery in a block': { swap: 'delivered_block = 1' },
      'with a final delivery': { swap: 'delivery_final = true' },
      'that are locked': { swap: `state = 'locked'` },
    },
  },
  'swaps with a lost log': {
    find: (db) => findForgottenDeliveries(db, DESTINATION),
    row: { swap: `state = 'locked', log_lost = true` },
    but: {
      ...paidElsewhere,
      'with a known log': { swap: 'log_lost = false' },
      'with a recorded delivery': { swap: `state = 'delivering'` },
    },
  },
  'open swaps': {
    find: (db) => findOpenAfter(db, { chainId: ORIGIN, after: '', limit: 9 }),
    row: {},
    but: { ...elsewhere, 'that ended': { swap: `state = 'closed'` } },
  },
  'swaps to lock': {
    find: (db) => findToLock(db, { chainId: ORIGIN, locker: 'locker', limit: 9 }),
    row: {},
    but: {
      ...elsewhere,
      'of another key': { swap: `locker = 'other'` },
      'with a lost log': { swap: 'log_lost = true' },
      'with a signed lock': { swap: `state = 'locking'` },
    },
  },
  'swaps to deliver': {
    find: (db) => findToDeliver(db, { chainId: DESTINATION, limit: 9 }),
    row: { swap: `state = 'locked'` },
    but: {
      ...paidElsewhere,
      'with a lost log': { swap: 'log_lost = true' },
      'with a signed delivery': { swap: `state = 'delivering'` },
    },
  },
  'swaps to lock again': {
    find: (db) => findStalledLocks(db, { chainId: ORIGIN, lockers: ['locker'], ...at }),
    row: { swap: `state = 'locking'` },
    but: {
      ...elsewhere,
      'of another key': { swap: `locker = 'other'` },
      'with a lost log': { swap: 'log_lost = true' },
      'with a final lock': { swap: 'origin_final = true' },
      'with a lock in a block': { swap: 'locked_block = 1' },
      'that are locked': { swap: `state = 'locked'` },
    },
  },
  'swaps to deliver again': {
    find: (db) => findStalledDeliveries(db, { chainId: DESTINATION, ...at }),
    row: { swap: `state = 'delivering'` },
    but: {
      ...paidElsewhere,
      'with a lost log': { swap: 'log_lost = true' },
      'with a final delivery': { swap: 'delivery_final = true' },
      'with a delivery in a block': { swap: 'delivered_block = 1' },
      'that are locked': { swap: `state = 'locked'` },
    },
  },
  'reported swaps to deliver again': {
    find: (db) => findStalledDeliveries(db, { chainId: DESTINATION, ...at }),
    row: { swap: `state = 'settled', log_lost = true` },
    but: { 'that are to be refunded': { swap: `state = 'refundDecided'` } },
  },
  'inputs without a known op': {
    find: (db) => findOrphans(db, ORIGIN),
    row: { swap: `state = 'delivering'`, op: 'is_orphan = true' },
    but: {
      ...elsewhere,
      'with a known op': { op: 'is_orphan = false' },
      'that are decided': { swap: `state = 'refundDecided'` },
    },
  },
  'claims to propose': {
    find: (db) => findToPropose(db, { kind: 'claim', chainId: ORIGIN }),
    row: { swap: settled },
    but: {
      ...elsewhere,
      'whose lock is not final': { swap: 'origin_final = false' },
      'whose delivery is not final': { swap: 'delivery_final = false' },
      'that are being delivered': { swap: `state = 'delivering'` },
    },
  },
  'refunds to propose': {
    find: (db) => findToPropose(db, { kind: 'refund', chainId: ORIGIN }),
    row: { swap: `state = 'refundDecided', origin_final = true` },
    but: {
      ...elsewhere,
      'whose lock is not final': { swap: 'origin_final = false' },
      'that are delivered': { swap: `state = 'settled'` },
    },
  },
}

test.each(
  Object.entries(lists).flatMap(([name, list]) =>
    Object.entries(list.but).map(([difference, change]) => ({ name, difference, list, change })),
  ),
)('the list of $name has none $difference', async ({ list: { find, row }, change }) => {
  const join = (...parts: (string | undefined)[]) => parts.filter(Boolean).join(', ')
  const listed = await insert(row)
  const other = await insert(row)
  await database.pool.query(`update swaps set ${join('version = 1', change.swap)} where id = $1`, [other])
  if (change.op)
    await database.pool.query(
      `update ops o set ${change.op} from swaps s where s.op_id = o.id and s.id = $1`,
      [other],
    )

  expect((await find(database.pool)).map(({ id }) => id)).toEqual([listed])
})

// Hard finality is at block 10, settle depth at block 20.
test.each([
  ['that is open', '', false],
  ['that is final by the block', `final_at = now(), final_block = 10`, true],
  ['that became final later', `final_at = now(), final_block = 11`, false],
  ['that was decided before blocks were noted', `final_at = now()`, true],
  ['that is consumed at settle depth', `consumed_block = 20`, true],
  ['that was consumed above settle depth', `consumed_block = 21`, false],
])('a swap with a transaction %s is tried again, or not', async (_, columns, isTried) => {
  const { pool } = database
  const lock = await insert({ swap: `state = 'locking'` })
  const delivery = await insert({ swap: `state = 'delivering', locked_block = 1` })
  for (const [swapId, role] of [
    [lock, 'lock'],
    [delivery, 'deliver'],
  ] as const)
    await insertTestAttempt(pool, { swapId, accountId: '' }, role)
  if (columns) await pool.query(`update tx_attempts set ${columns}`)
  const locks = await findStalledLocks(pool, { chainId: ORIGIN, lockers: ['locker'], ...at })
  const deliveries = await findStalledDeliveries(pool, { chainId: DESTINATION, ...at })

  expect([...locks, ...deliveries].map(({ id }) => id)).toEqual(isTried ? [lock, delivery] : [])
})

test('a transaction of another role, or of another swap, prevents no second try', async () => {
  const { pool } = database
  const swapId = await insert({ swap: `state = 'locking'` })
  const other = await insert({ swap: `state = 'locking', locked_block = 1` })
  await insertTestAttempt(pool, { swapId, accountId: '' }, 'noop')
  await insertTestAttempt(pool, { swapId: other, accountId: '' }, 'lock')

  const found = await findStalledLocks(pool, { chainId: ORIGIN, lockers: ['locker'], ...at })

  expect(found.map(({ id }) => id)).toEqual([swapId])
})

test('lists by page go on after the last swap, in the order of ids', async () => {
  const { pool } = database
  const ids = (await Promise.all([1, 2, 3].map(() => insert({ swap: `state = 'awaitingDeposit'` })))).sort()
  const idsOf = (swaps: readonly { id: string }[]) => swaps.map(({ id }) => id)

  for (const find of [findAwaiting, findOpenAfter]) {
    expect(idsOf(await find(pool, { chainId: ORIGIN, after: '', limit: 2 }))).toEqual(ids.slice(0, 2))
    expect(idsOf(await find(pool, { chainId: ORIGIN, after: ids[1] ?? '', limit: 2 }))).toEqual(ids.slice(2))
  }
})

test('an outcome that is proposed, and was not sent, is not proposed again', async () => {
  const { pool } = database
  const [claim, refund] = [
    await insert({ swap: settled }),
    await insert({ swap: `state = 'refunding', origin_final = true` }),
  ]
  const due = async () => [
    ...(await findToPropose(pool, { kind: 'claim', chainId: ORIGIN })),
    ...(await findToPropose(pool, { kind: 'refund', chainId: ORIGIN })),
  ]
  expect((await due()).map(({ id }) => id)).toEqual([claim, refund])

  await pool.query(
    `insert into attestations (chain_id, kind, swap_ids) values ($1, 'claim', $2), ($1, 'refund', $3)`,
    [ORIGIN, [claim], [refund]],
  )

  expect(await due()).toEqual([])
})

test.each([
  ['claim', `state = 'claiming', origin_final = true, delivery_final = true`],
  ['refund', `state = 'refunding', origin_final = true`],
] as const)('a %s that was sent is proposed again if its attestation is lost', async (kind, swap) => {
  const { pool } = database
  const [sent, lost] = [await insert({ swap }), await insert({ swap })]
  const attemptId = await insertTestAttempt(pool, { swapId: sent, accountId: '' }, kind)
  await insertTestAttempt(pool, { swapId: lost, accountId: '' }, kind)
  await pool.query(
    'insert into attestations (chain_id, kind, swap_ids, attempt_id) values ($1, $2, $3, $4)',
    [ORIGIN, kind, [sent], attemptId],
  )

  expect((await findToPropose(pool, { kind, chainId: ORIGIN })).map(({ id }) => id)).toEqual([lost])
})
