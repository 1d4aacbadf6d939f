import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Heads } from '../../chains/chain.ts'
import type { Work } from '../../lanes/sender.ts'
import type { Swap } from '../../model/swap.ts'
import { readClaimBooks } from '../../store/claim-books.ts'
import { inTransaction } from '../../store/db.ts'
import { bookDelivery } from '../../store/exposure.ts'
import { readExposure } from '../../store/figures.ts'
import { findSwaps } from '../../store/swaps.ts'
import { batchesOf, type LockDeps, lockBatch } from './lock.ts'

const CHAIN = 31_337
const lease = { name: 'relay', holder: 'holder', fence: '1' }
const block = { number: 1n, height: 1n, hash: '0x1', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

let database: TestDatabase

beforeAll(async () => {
  database = await startTestDatabase()
})
afterAll(() => database.stop())

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
      fits: async (_heads: unknown, { count }: { count: number }) => count <= room,
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
  return deps as unknown as LockDeps
}

async function locked({ id }: Swap): Promise<Swap> {
  const seen = { originTxHash: '0xlock', lockedBlock: 1n }
  return moveTestSwap(database.pool, { swapId: id, accountId: '' }, 'lockSeen', seen)
}

const countedCents = async ({ id }: Swap) => (await findSwaps(database.pool, [id]))[0]?.op.valueCents

test('a quote that understates its input does not stretch the exposure cap', async () => {
  const { pool } = database
  const forged = [await quotedAt(1n), await quotedAt(-1_000_000n)]

  expect(await lockBatch(workerSeeing(60_000n), lease, heads, forged)).toBe(true)
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

  await lockBatch(workerSeeing(499n), lease, heads, [swap])

  expect(await countedCents(swap)).toBe(500n)
})

test('nothing is locked without a price', async () => {
  const swap = await quotedAt(500n)

  expect(await lockBatch(workerSeeing(undefined), lease, heads, [swap])).toBe(false)
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
  const lock = (swap: Swap, seconds: number) => lockBatch(worker, lease, headsAt(seconds), [swap])

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
    swaps.map((swap) => lockBatch(workerSeeing(1n, { cap: 2_500n }), lease, heads, [swap])),
  )

  expect(locked.filter((isLocked) => isLocked)).toHaveLength(2)
})

test('an input that is locked again is booked once', async () => {
  const { pool } = database
  await pool.query('delete from claim_books')
  const swap = await quotedAt(1n)

  await lockBatch(workerSeeing(1n, { cap: 1_000n }), lease, heads, [swap])
  const again = await findSwaps(pool, [swap.id])

  expect(await lockBatch(workerSeeing(1n, { cap: 1_000n }), lease, heads, again)).toBe(true)
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

  await lockBatch(workerSeeing(1n, { room: 2, sent }), lease, heads, swaps)

  expect(sent).toEqual([2, 1, 2])
  const states = (
    await findSwaps(
      database.pool,
      swaps.map(({ id }) => id),
    )
  ).map(({ state }) => state)
  expect(new Set(states)).toEqual(new Set(['locking']))
})

test('an input whose wallet is delegated by the same transaction is locked alone', () => {
  const swapOf = (wallet: string, delegation?: object) => ({ op: { wallet }, delegation }) as Swap
  const [plain, first, other, second] = [swapOf('a'), swapOf('b', {}), swapOf('c'), swapOf('d', {})]

  expect(batchesOf([plain, first, other, second], 20)).toEqual([[plain, other], [first], [second]])
})
