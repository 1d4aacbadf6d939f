import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Heads } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Work } from '../../engine/sender.ts'
import { readClaimBooks } from '../../store/claim-books.ts'
import { inTransaction } from '../../store/db.ts'
import { bookDelivery } from '../../store/exposure.ts'
import { readExposure } from '../../store/figures.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Swap } from '../../swap/swap.ts'
import { type LockDeps, lockBatch, lockWaiting } from './lock.ts'
import { createWaitingLocks } from './readiness.ts'

const CHAIN = 31_337
const lease = { name: 'relay', holder: 'holder', fence: '1' }
const block = { number: 1n, height: 1n, hash: '0x1', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

const database = useTestDatabase()

/** An accepted swap with this value in its quote. */
async function quotedAt(cents: bigint): Promise<Swap> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query('update ops set value_cents = $2 from swaps s where s.op_id = ops.id and s.id = $1', [
    swapId,
    cents.toString(),
  ])
  const [swap] = await findSwaps(pool, [swapId])
  if (!swap) throw new Error('Swap not found')
  return swap
}

/** Rolls the transaction back when the record is refused. */
class Undone extends Error {}

const claimCap = (perHour: bigint) => ({ perHour, left: perHour, claimed: 0n })

/** A worker with these prices of its own, which records its transactions. */
type Seeing = { cap?: bigint; room?: number; sent?: number[] }

function workerSeeing(valueCents: bigint | undefined, seeing: Seeing = {}): LockDeps {
  const { cap = 1_000_000n, room = 20, sent = [] } = seeing
  const asked: number[] = []
  const record = (work: Work) => async (db: PoolClient) => {
    if (!(await work.record(db, { attemptId: '1', txHash: '0x' }))) throw new Undone()
    return true
  }
  const deps = {
    origin: {
      chainId: CHAIN,
      planLock: async (swaps: readonly Swap[]) => ({ count: swaps.length }),
      readClaimCap: async () => claimCap(cap),
    },
    sender: {
      fits: async (_heads: unknown, { count }: { count: number }) => {
        if (count < 2 || asked.push(count) > 9) throw new Error('Asked without need')
        return count <= room
      },
      send: async (_lease: unknown, _heads: unknown, work: Work) => {
        sent.push(work.swapIds.length)
        return inTransaction(database.pool, record(work)).catch((error: unknown) => {
          if (error instanceof Undone) return false
          throw error
        })
      },
    },
    valueCentsOf: () => valueCents,
    isPayable: async () => true,
  }
  return stub<LockDeps>(deps)
}

async function locked({ id }: Swap): Promise<Swap> {
  const seen = { originTxHash: '0xlock', lockedBlock: 1n }
  return moveTestSwap(database.pool, { swapId: id, accountId: '' }, 'lockSeen', seen)
}

const countedCents = async ({ id }: Swap) => (await findSwaps(database.pool, [id]))[0]?.op.valueCents

test('a quote that understates its input does not stretch the exposure cap', async () => {
  const { pool } = database
  const forged = [await quotedAt(1n), await quotedAt(-1_000_000n)]

  expect(await lockBatch(workerSeeing(60_000n), lease, heads, forged, [])).toBe(true)
  const [first, second] = await Promise.all(forged.map(locked))
  const book = (swap: Swap | undefined) =>
    swap &&
    bookDelivery(pool, {
      chainId: CHAIN,
      swaps: [swap],
      caps: { exposedCents: 100_000n, unclaimedCents: 1_000_000n },
    })

  expect([await book(first), await book(second)]).toEqual([true, false])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: 60_000n }])
})

test('a quote above the market price at the lock keeps its value', async () => {
  const swap = await quotedAt(500n)

  await lockBatch(workerSeeing(499n), lease, heads, [swap], [])

  expect(await countedCents(swap)).toBe(500n)
})

test('nothing is locked without a price, or without a signature of its terms', async () => {
  const swap = await quotedAt(500n)

  expect(await lockBatch(workerSeeing(undefined), lease, heads, [swap], [])).toBe(false)
  const unsigned = { ...workerSeeing(500n), isPayable: async () => false }
  expect(await lockBatch(unsigned, lease, heads, [swap], [])).toBe(false)
  expect((await findSwaps(database.pool, [swap.id]))[0]?.state).toBe('accepted')
})

const HOUR = 3_600
const headsAt = (seconds: number): Heads => {
  const at = { ...block, seconds }
  return { head: at, settle: at, hard: at }
}

test("a lock beyond one hour's claims waits until the hour of a claim is over", async () => {
  const { pool } = database
  await pool.query('delete from claim_books')
  // Each input is 1,000.
  const [first, second, third] = [await quotedAt(1n), await quotedAt(1n), await quotedAt(1n)]
  const worker = workerSeeing(1n, { cap: 2_000n })
  const lock = (swap: Swap, seconds: number) => lockBatch(worker, lease, headsAt(seconds), [swap], [])

  expect([await lock(first, 0), await lock(second, 0), await lock(third, 0)]).toEqual([true, true, false])
  expect((await findSwaps(pool, [third.id]))[0]).toMatchObject({ state: 'accepted', isClaimBooked: false })

  await claimed(first, HOUR - 1)

  expect([await lock(third, HOUR - 1), await lock(third, HOUR)]).toEqual([false, true])
})

test('two workers that lock at once do not book the same capacity', async () => {
  const { pool } = database
  await pool.query('delete from claim_books')
  const swaps = [await quotedAt(1n), await quotedAt(1n), await quotedAt(1n), await quotedAt(1n)]

  const locked = await Promise.all(
    swaps.map((swap) => lockBatch(workerSeeing(1n, { cap: 2_500n }), lease, heads, [swap], [])),
  )

  expect(locked.filter((isLocked) => isLocked)).toHaveLength(2)
})

test('an input that is locked again is booked once', async () => {
  const { pool } = database
  await pool.query('delete from claim_books')
  const swap = await quotedAt(1n)

  await lockBatch(workerSeeing(1n, { cap: 1_000n }), lease, heads, [swap], [])
  const again = await findSwaps(pool, [swap.id])

  expect(await lockBatch(workerSeeing(1n, { cap: 1_000n }), lease, heads, again, [])).toBe(true)
  expect(await readClaimBooks(pool)).toMatchObject([{ token: 'input', open: 1_000n }])
})

async function claimed(swap: Swap, bySeconds: number) {
  const { pool } = database
  const test = { swapId: swap.id, accountId: '' }
  await locked(swap)
  await moveTestSwap(pool, test, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await moveTestSwap(pool, test, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
  await moveTestSwap(pool, test, 'claimFinal', { claimedBySeconds: bySeconds })
}

test('a batch that no block has room for is locked in parts', async () => {
  const sent: number[] = []
  const swaps = await Promise.all([1n, 1n, 1n, 1n, 1n].map(quotedAt))

  expect(await lockBatch(workerSeeing(1n, { room: 2, sent }), lease, heads, swaps, [])).toBe(true)

  expect(sent).toEqual([2, 1, 2])
  const states = (
    await findSwaps(
      database.pool,
      swaps.map(({ id }) => id),
    )
  ).map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['locking']))
})

type Waiting = {
  decline?: boolean
  cap?: bigint
  room?: number
  limit?: number
  /** Without a cap. */
  free?: string
  unsigned?: string
  trap?: string
}

/** Locks what waits, in transactions of at most two inputs. Returns their sizes and the declined swaps. */
async function lockAll(
  found: readonly Swap[],
  { decline = false, cap, room = 9, limit = 50, ...more }: Waiting = {},
) {
  const [sent, declined, reads, looks]: [number[], string[], number[], number[]] = [[], [], [], []]
  const worker = workerSeeing(1n, { sent, ...(cap !== undefined && { cap }) })
  const bounds: (bigint | undefined)[] = []
  let isFresh = false
  const send = async (held: Lease, at: Heads, work: Work) => {
    if (work.swapIds.includes(more.trap ?? '')) throw new Error('refused by the node')
    bounds.push(work.feeBound)
    return worker.sender.send(held, at, work)
  }
  const deps = {
    ...worker,
    pool: database.pool,
    batchSize: 2,
    refreshPrices: async () => {
      if (looks.push(sent.length) > 9) throw new Error('Looked without end')
      isFresh = true
    },
    sender: { ...worker.sender, send, room: () => room - sent.length, affords: async () => true },
    origin: {
      ...worker.origin,
      findObstacle: async () => (decline ? 'INPUT_UNAVAILABLE' : undefined),
      readClaimCap: async (token: string) =>
        token === more.free ? undefined : worker.origin.readClaimCap?.(token),
    },
    isPayable: async ({ id }: Swap) => id !== more.unsigned,
    destinationOf: () => ({ simulateDelivery: async () => ({ kind: 'ok' }) }),
    isLive: () => true,
    isGone: () => false,
    lateLockSeconds: 0,
    isLate: () => false,
    paidNow: ({ quotedOutput: output, payAmount: pay }: Swap['op']) =>
      isFresh ? { output, pay } : undefined,
    moves: createMoves(database.pool, ({ id }, change) => {
      if (change.event === 'declined') declined.push(`${id} ${change.failureCode}`)
    }),
  }
  const find = async (count: number) => {
    reads.push(count)
    const ids = found.map(({ id }) => id)
    const rows = new Map((await findSwaps(database.pool, ids)).map((swap) => [swap.id, swap]))
    const inOrder = ids.flatMap((id) => rows.get(id) ?? [])
    return inOrder.filter(({ state }) => state === 'accepted').slice(0, count)
  }
  const waiting = createWaitingLocks({ find, limit, takeSize: 3 })
  const held = await holdTestLane(database, `relay of ${found[0]?.id}`)
  await lockWaiting(stub<LockDeps>(deps), held, headsAt(99), waiting)
  return { sent, declined, reads: reads.length, waiting, bounds }
}

/** Accepted swaps of several wallets. */
async function accepted(count: number): Promise<Swap[]> {
  await database.pool.query('delete from claim_books')
  const swaps: Swap[] = []
  for (let index = 0; index < count; index += 1) {
    const { id } = await quotedAt(1n)
    await database.pool.query('update swaps set wallet = id where id = $1', [id])
    await database.pool.query(
      'update ops set wallet = s.id, op_deadline = 100 from swaps s where s.op_id = ops.id and s.id = $1',
      [id],
    )
    swaps.push(...(await findSwaps(database.pool, [id])))
  }
  return swaps
}

test('all inputs that wait are locked, in as few transactions as each look allows', async () => {
  const { sent, declined, reads } = await lockAll(await accepted(5))

  expect([sent.sort(), declined, reads]).toEqual([[1, 2, 2], [], 1])
})

test('a key without room leaves the rest to the next', async () => {
  expect((await lockAll(await accepted(5), { room: 1 })).sent).toEqual([2])
})

test('a full look is followed by another, until nothing is left', async () => {
  expect(await lockAll(await accepted(4), { limit: 2 })).toMatchObject({ sent: [2, 2], reads: 3 })
})

test('inputs beyond the claim capacity wait, and are given back for the next look', async () => {
  const swaps = await accepted(3)

  const { sent, waiting } = await lockAll(swaps, { cap: 2_000n })

  expect(sent).toEqual([2])
  await waiting.refresh()
  expect(waiting.take()).toHaveLength(1)
})

test('a full look that locks nothing is not followed by another', async () => {
  expect(await lockAll(await accepted(2), { limit: 2, cap: 999n })).toMatchObject({ sent: [], reads: 1 })
})

test('an input whose claim is booked already needs no more room', async () => {
  const swaps = await accepted(1)
  await database.pool.query('update swaps set claim_booked = true where id = $1', [swaps[0]?.id])
  await database.pool.query(`insert into claim_books (chain_id, token, open) values (31337, 'input', 1000)`)

  expect((await lockAll(swaps, { cap: 1_000n })).sent).toEqual([1])
})

test('the claims of another chain or token take no room', async () => {
  const swaps = await accepted(1)
  await database.pool.query(
    `insert into claim_books (chain_id, token, open) values (5, 'input', 1000), (31337, 'other', 1000)`,
  )

  expect((await lockAll(swaps, { cap: 1_000n })).sent).toEqual([1])
})

test('a swap that cannot succeed is declined with its reason, and keeps its input', async () => {
  const [swap] = await accepted(1)

  const { sent, declined } = await lockAll(swap ? [swap] : [], { decline: true })

  expect([sent, declined]).toEqual([[], [`${swap?.id} INPUT_UNAVAILABLE`]])
  expect((await findSwaps(database.pool, [swap?.id ?? '']))[0]?.state).toBe('failed')
})

const statesOf = async (swaps: readonly Swap[]) =>
  Promise.all(swaps.map(async ({ id }) => (await findSwaps(database.pool, [id]))[0]?.state))

test('inputs of terms that their wallets did not sign are not taken, and others of their batch are', async () => {
  const swaps = await accepted(2)
  const [unsigned] = swaps

  expect((await lockAll(swaps, { ...(unsigned && { unsigned: unsigned.id }) })).sent).toEqual([1])
  expect(await statesOf(swaps)).toEqual(['accepted', 'locking'])
  const [alone] = await accepted(1)
  expect((await lockAll(alone ? [alone] : [], { ...(alone && { unsigned: alone.id }) })).sent).toEqual([])
})

test('a transaction pays at most the least of the fees that its inputs allow', async () => {
  const swaps = await accepted(2)
  await database.pool.query(
    `update ops set lock_fee_bound = case when s.id = $1 then 7 else 9 end from swaps s where s.op_id = ops.id`,
    [swaps[1]?.id],
  )

  expect((await lockAll(swaps)).bounds).toEqual([7n])
})

test('a batch that cannot be sent is reported, and the others are locked', async () => {
  const swaps = await accepted(3)

  await expect(lockAll(swaps, { ...(swaps[0] && { trap: swaps[0].id }) })).rejects.toThrow(
    'refused by the node',
  )

  expect(await statesOf(swaps)).toEqual(['accepted', 'accepted', 'locking'])
})

test('a token without a cap is locked beside one whose hour is full', async () => {
  const swaps = await accepted(2)
  const [full, free] = swaps
  await database.pool.query(`update swaps set input_token = 'free' where id = $1`, [free?.id])
  await database.pool.query(
    `update ops set input_token = 'free' from swaps s where s.op_id = ops.id and s.id = $1`,
    [free?.id],
  )

  expect((await lockAll(swaps, { cap: 999n, free: 'free' })).sent).toEqual([1])
  expect(await statesOf([full, free].flatMap((swap) => swap ?? []))).toEqual(['accepted', 'locking'])
})

test('a deposit that a reorg undid is waited for again', async () => {
  const swaps = await accepted(1)
  await database.pool.query(
    `update ops set method = 'deposit' from swaps s where s.op_id = ops.id and s.id = $1`,
    [swaps[0]?.id],
  )

  const { sent, declined } = await lockAll(swaps, { decline: true })

  expect([sent, declined]).toEqual([[], []])
  expect(await findSwaps(database.pool, [swaps[0]?.id ?? ''])).toMatchObject([
    { state: 'awaitingDeposit', deposit: { received: '0' } },
  ])
})
