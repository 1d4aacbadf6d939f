import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { storeTestEvents } from '../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { ChainEvent } from '../chains/chain.ts'
import { toRecoveryId } from '../swap/deposit.ts'
import {
  findAbandonedAttempts,
  findAttemptSwaps,
  findAttemptsWithEvent,
  findNextNonce,
  findOpenAttempts,
  findSwapsOf,
  listSenders,
  markAttemptsConsumed,
  markAttemptsFinal,
  markAttemptsReturned,
  markRefused,
  type Role,
  raiseNonce,
  recordAttempt,
  tallyAttempts,
  wasAuthorityRefused,
} from './attempts.ts'
import { storePage } from './chain-events.ts'
import type { Lease } from './lanes.ts'
import { findSwaps } from './swaps.ts'

const CHAIN = 31_337
const key = { chainId: CHAIN, address: 'key' }
const stranger = '00000000-0000-0000-0000-000000000000'

const database = useTestDatabase()
beforeEach(() =>
  database.pool.query('truncate swaps, ops, tx_attempts, sender_keys, chain_events, lanes cascade'),
)

/** Its deliveries may be signed. */
async function newSwap(): Promise<TestSwap> {
  const swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  await lockTestSwap(database.pool, swap)
  await moveTestSwap(database.pool, swap, 'deliveryRecorded')
  return swap
}
const attemptOf = (swap: TestSwap, role: Role, change: object = {}) =>
  insertTestAttempt(database.pool, swap, role, change)

async function withEvent(attempts: readonly { id: string }[]) {
  const asked = { chainId: CHAIN, ids: attempts.map(({ id }) => id) }
  return (await findAttemptsWithEvent(database.pool, [asked])).get(asked)?.withEvent ?? []
}
const openOf = async (of: typeof key) => (await findOpenAttempts(database.pool, [of])).get(of) ?? []

test('a nonce only rises, and is one of this key on this chain', async () => {
  const { pool } = database
  expect(await findNextNonce(pool, key)).toBeUndefined()
  await raiseNonce(pool, { ...key, atLeast: 0 })
  expect(await findNextNonce(pool, key)).toBe(0)
  await raiseNonce(pool, { ...key, atLeast: 7 })
  await raiseNonce(pool, { ...key, atLeast: 5 })
  await raiseNonce(pool, { chainId: CHAIN, address: 'other', atLeast: 9 })
  await raiseNonce(pool, { chainId: 5, address: 'key', atLeast: 11 })

  expect(await findNextNonce(pool, key)).toBe(7)
  expect((await listSenders(pool, CHAIN)).sort()).toEqual(['key', 'other'])
})

const newAttempt = (swapIds: readonly string[]) => ({
  ...{ chainId: CHAIN, sender: 'key', nonce: 3, replacement: 0, role: 'lock' as const, txHash: '0xa' },
  ...{ raw: '0xraw', effectHash: '0xeffect', request: {}, terms: {}, sentAtBlock: 4n, sentAtSeconds: 5 },
  swapIds,
})

type Record = Parameters<typeof recordAttempt>[1]

test('a worker that holds its lane takes nonces one by one with what it signed', async () => {
  const { pool } = database
  const lease = await holdTestLane(database, 'send')
  await raiseNonce(pool, { ...key, atLeast: 3 })
  await raiseNonce(pool, { chainId: 5, address: 'key', atLeast: 8 })
  await raiseNonce(pool, { chainId: CHAIN, address: 'other', atLeast: 9 })
  const { swapId } = await newSwap()

  const record = (change: object) =>
    recordAttempt(pool, stub<Record>({ ...newAttempt([swapId]), ...change }), lease)

  const id = await record({})
  const refused = [await record({ txHash: '0xb' }), await record({ txHash: '0xc', nonce: 5 })]
  const replacement = await record({ txHash: '0xd', replacement: 1 })

  expect([refused, await findNextNonce(pool, key)]).toEqual([[undefined, undefined], 4])
  expect(await findAttemptSwaps(pool, id ?? '')).toEqual([swapId])
  expect(await openOf(key)).toMatchObject([
    { id, chainId: CHAIN, nonce: 3, raw: '0xraw', sentAtBlock: 4n, isBurn: false, isConsumed: false },
    { id: replacement, nonce: 3, replacement: 1 },
  ])
  expect(await findNextNonce(pool, { chainId: 5, address: 'key' })).toBe(8)
  expect(await findNextNonce(pool, { chainId: CHAIN, address: 'other' })).toBe(9)
})

test.each<[string, (lease: Lease) => Lease, string]>([
  ['of another lane', (lease) => ({ ...lease, name: 'other' }), ''],
  ['of an earlier fence', (lease) => ({ ...lease, fence: `${Number(lease.fence) - 1}` }), ''],
  ['of another worker', (lease) => ({ ...lease, holder: stranger }), ''],
  ['that is over', (lease) => lease, 'update lanes set expires_at = clock_timestamp()'],
])('nothing is signed with a lease %s', async (_, change, sql) => {
  const { pool } = database
  const lease = change(await holdTestLane(database, 'send'))
  await raiseNonce(pool, { ...key, atLeast: 3 })
  if (sql) await pool.query(sql)

  expect(await recordAttempt(pool, stub<Record>(newAttempt([])), lease)).toBeUndefined()
  expect([await findNextNonce(pool, key), await openOf(key)]).toEqual([3, []])
})

test('open transactions are those of the key that are not final, in a block or not', async () => {
  const { pool } = database
  const swap = await newSwap()
  const [waiting, mined, final, ,] = [
    await attemptOf(swap, 'lock', { sender: 'key' }),
    await attemptOf(swap, 'noop', { sender: 'key', replacement: 1 }),
    await attemptOf(swap, 'lock', { sender: 'key', replacement: 2 }),
    await attemptOf(swap, 'lock', { sender: 'other' }),
    await attemptOf(swap, 'lock', { sender: 'key', chainId: 5 }),
  ]
  const open = async () =>
    (await openOf(key)).map(({ id, isConsumed, isBurn }) => ({ id, isConsumed, isBurn }))
  await markAttemptsConsumed(pool, [{ id: mined }], 8n)
  await markAttemptsFinal(pool, [{ id: final }], 9n)

  expect(await open()).toEqual([
    { id: waiting, isConsumed: false, isBurn: false },
    { id: mined, isConsumed: true, isBurn: true },
  ])
  await markAttemptsReturned(pool, [{ id: mined }])
  expect((await open()).map(({ isConsumed }) => isConsumed)).toEqual([false, false])
})

test.each<[Role, ChainEvent['kind']]>([
  ['lock', 'locked'],
  ['deliver', 'delivered'],
  ['claim', 'claimed'],
  ['refund', 'refunded'],
])('a transaction to %s is in a block once its own event is stored', async (role, kind) => {
  const { pool } = database
  const [swap, other] = [await newSwap(), await newSwap()]
  await pool.query(`update ops set delivery_hash = 'd' || hash`)
  const [mine, asked] = [await attemptOf(swap, role), await attemptOf(swap, role)]
  await attemptOf(other, role)
  const txHash = async (id: string) =>
    (await pool.query('select tx_hash from tx_attempts where id = $1', [id])).rows[0].tx_hash
  const store = async (of: TestSwap, event: ChainEvent['kind'], at: { txHash: string; block: bigint }) =>
    storeTestEvents(pool, CHAIN, event, await findSwaps(pool, [of.swapId]), at)
  const seen = async (ids: readonly string[]) => [...(await withEvent(ids.map((id) => ({ id }))))]

  await store(swap, kind, { txHash: '0xof another key', block: 1n })
  await store(other, kind, { txHash: await txHash(mine), block: 2n })
  await store(swap, kind === 'locked' ? 'claimed' : 'locked', { txHash: await txHash(mine), block: 3n })
  expect(await seen([mine, asked])).toEqual([])
  await pool.query('delete from chain_events')
  await store(swap, kind, { txHash: await txHash(mine), block: 4n })

  expect(await seen([mine, asked])).toEqual([mine])
  expect(await seen([asked])).toEqual([])
  expect(await seen([])).toEqual([])
})

test('a transaction that sends a deposit back is in a block once its own event is stored', async () => {
  const { pool } = database
  const [swap, other] = [await newSwap(), await newSwap()]
  const [mine, another] = [await attemptOf(swap, 'recover'), await attemptOf(other, 'recover')]
  const attempts = [{ id: mine }, { id: another }]
  const { rows } = await pool.query<{ tx_hash: string; op: string }>(
    `select a.tx_hash, o.hash as op from tx_attempts a join swaps s on s.id = $2 join ops o on o.id = s.op_id
      where a.id = $1`,
    [mine, swap.swapId],
  )
  const { tx_hash: txHash, op } = rows[0] ?? expect.unreachable('There is an attempt')
  const store = (at: { op: string; txHash: string }) => {
    const id = toRecoveryId({ ...at, token: '0xt' })
    const event = {
      kind: 'recovered',
      id,
      txHash: at.txHash,
      block: 1n,
      blockHash: '0x1',
      amount: 1n,
    } as const
    return storePage(pool, { chainId: CHAIN, events: [event], gone: [], seconds: 0 }, async () => {})
  }

  await store({ op, txHash: '0xof a stranger' })
  await store({ op: '0xof another op', txHash })
  expect(await withEvent(attempts)).toEqual(new Set())
  await store({ op, txHash })

  expect(await withEvent(attempts)).toEqual(new Set([mine]))
})

test('abandoned transactions are the open ones of all other keys of the chain', async () => {
  const { pool } = database
  const swap = await newSwap()
  const found = [
    await attemptOf(swap, 'lock', { sender: 'a' }),
    await attemptOf(swap, 'lock', { sender: 'a', replacement: 1 }),
    await attemptOf(swap, 'lock', { sender: 'c' }),
  ]
  await attemptOf(swap, 'lock', { sender: 'b' })
  await attemptOf(swap, 'lock', { sender: 'd', chainId: 5 })
  const final = [
    await attemptOf(swap, 'lock', { sender: 'a', replacement: 2 }),
    await attemptOf(swap, 'lock', { sender: '0' }),
  ]
  await markAttemptsFinal(
    pool,
    final.map((id) => ({ id })),
    9n,
  )

  const abandoned = await findAbandonedAttempts(pool, { chainId: CHAIN, senders: ['b'] })

  expect(abandoned.map(({ id }) => id).sort()).toEqual(found.sort())
})

test('a refusal because of the wallet is remembered for the locks of that swap', async () => {
  const { pool } = database
  const [swap, other, delivered] = [await newSwap(), await newSwap(), await newSwap()]
  for (const [each, role] of [
    [swap, 'lock'],
    [other, 'lock'],
    [delivered, 'deliver'],
  ] as const)
    await attemptOf(each, role)
  const hashes = (await pool.query('select tx_hash from tx_attempts order by id')).rows.map(
    (row) => row.tx_hash,
  )
  await markRefused(pool, hashes[0], 'authority')
  await markRefused(pool, hashes[1], 'unfunded')
  await markRefused(pool, hashes[2], 'authority')

  expect(
    await Promise.all([swap, other, delivered].map(({ swapId }) => wasAuthorityRefused(pool, swapId))),
  ).toEqual([true, false, false])
})

test('tries are counted by nonce, for one role, and open ones as of a block', async () => {
  const { pool } = database
  const [swap, other] = [await newSwap(), await newSwap()]
  await attemptOf(swap, 'lock', { sender: 'a' })
  const early = await attemptOf(swap, 'lock', { sender: 'a', replacement: 1 })
  const late = await attemptOf(swap, 'lock', { sender: 'b' })
  await attemptOf(swap, 'deliver')
  await attemptOf(other, 'lock')
  await markAttemptsFinal(pool, [{ id: early }], 9n)
  await markAttemptsFinal(pool, [{ id: late }], 10n)

  const tallies = await tallyAttempts(pool, 'lock', [swap.swapId], 9n)

  expect([...tallies]).toEqual([[swap.swapId, { total: 2, open: 2 }]])
})

test('the swaps of transactions are found by transaction', async () => {
  const { pool } = database
  const [swap, other] = [await newSwap(), await newSwap()]
  await pool.query('update ops set refund_deadline = 77')
  const [mine, asked] = [await attemptOf(swap, 'lock'), await attemptOf(other, 'lock')]

  const found = await findSwapsOf(pool, [mine])

  const terms = { state: 'delivering', originChain: CHAIN, destinationChain: 31_338, refundDeadline: 77 }
  expect([...found]).toEqual([[mine, [terms]]])
  expect((await findSwapsOf(pool, [mine, asked])).size).toBe(2)
})
