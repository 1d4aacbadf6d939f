import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Work } from '../../engine/sender.ts'
import { inTransaction } from '../../store/db.ts'
import { readBooked } from '../../store/exposure.ts'
import { readExposure } from '../../store/figures.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps } from '../../store/swaps.ts'
import { isExposing, isFastDue } from '../../swap/exposure.ts'
import type { Op } from '../../swap/swap.ts'
import { type DeliverDeps, deliverLocked } from './deliver.ts'

const ORIGIN = 31_337

let database: TestDatabase
let lease: Lease
beforeAll(async () => {
  database = await startTestDatabase()
  lease = await holdTestLane(database, 'deliver')
})
afterAll(() => database.stop())
beforeEach(() => database.pool.query('truncate swaps, ops, exposure cascade'))

const block: Block = { number: 20n, height: 20n, hash: '0x20', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

/** A locked swap of this value, at this position of its locker. */
async function locked({ cents = 100, position = 0, payToken = 'output' } = {}): Promise<string> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  await pool.query(
    `update ops set value_cents = $2, position = $3, pay_token = $4, delivery_fee_bound = 7 from swaps s
      where s.op_id = ops.id and s.id = $1`,
    [swap.swapId, cents, position, payToken],
  )
  return swap.swapId
}

/** Rolls the transaction back when the record is refused. */
class Undone extends Error {}

type Seeing = Partial<DeliverDeps> & { exposedCents?: bigint; room?: number; refuses?: number; kind?: string }

/** A worker that records what it sends. It refuses transactions of more than `refuses` swaps. */
function workerSeeing({ exposedCents = 1_000n, room = 16, refuses = 20, kind = 'ok', ...own }: Seeing = {}) {
  const [sent, tried]: [string[][], string[][]] = [[], []]
  const refunded: string[] = []
  const bounds: (bigint | undefined)[] = []
  const send = async (_lease: Lease, _heads: Heads, work: Work) => {
    tried.push([...work.swapIds])
    bounds.push(work.feeBound)
    const done = await inTransaction(database.pool, async (db) => {
      const isRecorded = await work.record(db, { attemptId: '1', txHash: `0x${sent.length}` })
      if (!isRecorded || work.swapIds.length > refuses) throw new Undone()
      return true
    }).catch((error: unknown) => {
      if (error instanceof Undone) return false
      throw error
    })
    if (done) sent.push([...work.swapIds])
    return done
  }
  const deps = {
    ...{ pool: database.pool, cutOffSeconds: 0, patienceSeconds: 60 },
    sender: {
      address: 'deliverer',
      room: () => room,
      affords: async () => true,
      termsAt: async () => ({}),
      send,
    },
    destination: {
      ...{ chainId: 31_338, maxBatch: 2 },
      planDelivery: async (ops: readonly Op[]) => ({ count: ops.length }),
      simulateDelivery: async () => ({ kind }),
    },
    share: () => ({ index: 0, of: 1 }),
    isVerified: () => true,
    isPayable: async () => true,
    isLive: () => true,
    downSeconds: () => 0,
    isPriceKept: () => true,
    refreshPrices: async () => {},
    isClaimable: () => true,
    isLate: () => false,
    capsOf: () => ({ exposedCents, unclaimedCents: 1_000_000n }),
    hardSecondsOf: () => 60,
    moves: createMoves(database.pool, ({ id }) => refunded.push(id)),
    ...own,
  }
  return { deps: stub<DeliverDeps>(deps), sent, tried, refunded, bounds }
}

const stateOf = async (swapId: string) => {
  const [swap] = await findSwaps(database.pool, [swapId])
  return { state: swap?.state, txHash: swap?.deliveryTxHash }
}

test('a delivery is recorded with its transaction, and its value counts as exposed', async () => {
  const swapId = await locked()
  const { deps, sent, bounds } = workerSeeing()

  await deliverLocked(deps, lease, heads)

  expect([sent, bounds]).toEqual([[[swapId]], [7n]])
  expect(await stateOf(swapId)).toEqual({ state: 'delivering', txHash: '0x0' })
  expect(await readExposure(database.pool)).toMatchObject([{ chainId: ORIGIN, cents: 100n }])
})

test('deliveries from the inventory share a transaction, and a bought output has its own', async () => {
  const held = [await locked(), await locked(), await locked()]
  const bought = await locked({ payToken: 'other' })
  const { deps, sent } = workerSeeing()

  await deliverLocked(deps, lease, heads)

  expect(sent.map(({ length }) => length).sort()).toEqual([1, 1, 2])
  expect(sent).toContainEqual([bought])
  expect(sent.flat().sort()).toEqual([...held, bought].sort())
})

test('a key sends no more transactions than it has room for', async () => {
  await Promise.all([locked(), locked(), locked()])
  const { deps, sent } = workerSeeing({ room: 1 })

  await deliverLocked(deps, lease, heads)

  expect(sent.map(({ length }) => length)).toEqual([2])
})

test('a batch that is refused is sent in parts', async () => {
  const swaps = [await locked(), await locked()]
  const { deps, sent } = workerSeeing({ refuses: 1 })

  await deliverLocked(deps, lease, heads)

  expect(sent).toEqual(swaps.map((id) => [id]))
})

test('a delivery that is refused alone is not sent twice', async () => {
  const swapId = await locked()
  const { deps, tried } = workerSeeing({ refuses: 0 })

  await deliverLocked(deps, lease, heads)

  expect(tried).toEqual([[swapId]])
})

test.each([
  ['a final input counts as unclaimed', 'origin_final = true', { exposedCents: 0n, unclaimedCents: 100n }],
  [
    'a soft one that was booked before as exposed',
    'unclaimed_cents = 9',
    { exposedCents: 100n, unclaimedCents: 0n },
  ],
])('the value of a delivery against %s', async (_, change, booked) => {
  await locked()
  await database.pool.query(`update swaps set ${change}`)
  const { deps } = workerSeeing()

  await deliverLocked(deps, lease, heads)

  expect((await readBooked(database.pool)).get(ORIGIN)).toMatchObject(booked ?? {})
})

test('a swap that another worker has booked beyond the cap since is not delivered', async () => {
  const swapId = await locked({ cents: 600 })
  const capsOf = () => {
    // The cap that is read first has room; the one of the record has none.
    const exposedCents = asked++ === 0 ? 1_000n : 500n
    return { exposedCents, unclaimedCents: 1_000_000n }
  }
  let asked = 0
  const { deps, sent } = workerSeeing({ capsOf })

  await deliverLocked(deps, lease, heads)

  expect(sent).toEqual([])
  expect((await stateOf(swapId)).state).toBe('locked')
})

// Of each cap of 1,000 cents, 600 are booked on this chain, and all on another one.
test.each([
  ['just fits', 400, { exposedCents: 1_000n, unclaimedCents: 1_000n }, true],
  ['exposes too much', 401, { exposedCents: 1_000n, unclaimedCents: 9_000n }, false],
  ['leaves too much unclaimed', 401, { exposedCents: 9_000n, unclaimedCents: 1_000n }, false],
])('of two swaps, one of them booked before, one that %s is sent or not', async (_, cents, caps, fits) => {
  const { pool } = database
  await pool.query(
    'insert into exposure (chain_id, cents, unclaimed_cents) values ($1, 600, 600), (5, 1000, 1000)',
    [ORIGIN],
  )
  const booked = await locked({ cents: 300 })
  await pool.query('update swaps set origin_final = true, unclaimed_cents = 300')
  const swapId = await locked({ cents })
  const { deps, tried } = workerSeeing({ capsOf: () => caps })

  await deliverLocked(deps, lease, heads)

  expect(tried.flat().sort()).toEqual((fits ? [booked, swapId] : [booked]).sort())
})

test('a key delivers its own share, and nothing without gas', async () => {
  const [even, odd] = [await locked({ position: 4 }), await locked({ position: 3 })]
  const [none, second] = [
    workerSeeing({ share: () => undefined }),
    workerSeeing({ share: () => ({ index: 1, of: 2 }) }),
  ]

  await deliverLocked(none.deps, lease, heads)
  await deliverLocked(second.deps, lease, heads)

  expect(none.sent).toEqual([])
  expect(second.sent).toEqual([[odd]])
  expect((await stateOf(even)).state).toBe('locked')
})

test.each<[string, string, Partial<DeliverDeps>]>([
  ['whose origin was not read since the process began', 'delivered', { isVerified: () => false }],
  ['whose origin was not read since the process began', 'refunded', { isVerified: () => false }],
  ['whose terms the wallet did not sign', 'delivered', { isPayable: async () => false }],
  ['whose terms the wallet did not sign', 'refunded', { isPayable: async () => false }],
])('a swap %s is not %s', async (_, outcome, own) => {
  const swapId = await locked()
  await database.pool.query('update swaps set origin_final = true')
  const kind = outcome === 'delivered' ? 'ok' : 'recipientRefuses'
  const { deps, sent, refunded } = workerSeeing({ ...own, kind })

  await deliverLocked(deps, lease, heads)

  expect([sent, refunded]).toEqual([[], []])
  expect((await stateOf(swapId)).state).toBe('locked')
})

test('a swap that its recipient refuses is refunded, for nothing was signed for it', async () => {
  const swapId = await locked()
  await database.pool.query('update swaps set origin_final = true')
  const { deps, sent, refunded } = workerSeeing({ kind: 'recipientRefuses' })

  await deliverLocked(deps, lease, heads)

  expect([sent, refunded]).toEqual([[], [swapId]])
  expect((await stateOf(swapId)).state).toBe('refundDecided')
})

test('prices are read only if there is something to deliver', async () => {
  let reads = 0
  const refreshPrices = async () => {
    reads += 1
  }
  const { deps } = workerSeeing({ refreshPrices })

  await deliverLocked(deps, lease, heads)
  expect(reads).toBe(0)
  await locked()
  await deliverLocked(deps, lease, heads)

  expect(reads).toBe(1)
})

test('nothing is sent while the destination does not answer', async () => {
  await locked()
  const { deps, sent } = workerSeeing()

  await deliverLocked(deps, lease, undefined)

  expect(sent).toEqual([])
})

test('a delivered swap is not delivered again by this way', async () => {
  const { pool } = database
  await settleTestSwap(pool, await insertTestSwap(pool, await insertTestAccount(pool)))
  const { deps, sent } = workerSeeing()

  await deliverLocked(deps, lease, heads)

  expect(sent).toEqual([])
})

describe('a swap that was quoted as fast', () => {
  const capsOf = () => ({ exposedCents: 100n, fastCents: 300n, unclaimedCents: 10_000n })

  async function fast(cents: number): Promise<string> {
    const swapId = await locked({ cents })
    await database.pool.query(
      `update ops set fast_output = 985 from swaps s where s.op_id = ops.id and s.id = $1`,
      [swapId],
    )
    return swapId
  }
  /** A worker and the outputs that it planned to pay. */
  function planning() {
    const outputs: bigint[] = []
    const worker = workerSeeing({ capsOf })
    const planDelivery = async (ops: readonly Op[]) => {
      outputs.push(...ops.map(({ quotedOutput }) => quotedOutput))
      return { kind: 'planned' }
    }
    const destination = { ...worker.deps.destination, planDelivery }
    return { ...worker, deps: { ...worker.deps, destination }, outputs }
  }
  const read = async (swapId: string) => (await findSwaps(database.pool, [swapId]))[0]

  test('is paid its fast output beyond the first cap, and counts against the second', async () => {
    const swapId = await fast(200)
    const { deps, sent, outputs } = planning()

    await deliverLocked(deps, lease, heads)

    expect([sent, outputs]).toEqual([[[swapId]], [985n]])
    expect(await read(swapId)).toMatchObject({ state: 'delivering', isPaidFast: true })
    expect((await readBooked(database.pool)).get(ORIGIN)).toMatchObject({
      exposedCents: 200n,
      fastCents: 200n,
    })
  })

  test('waits for finality from then on if there is no room, and is then paid in full', async () => {
    const [paid, late] = [await fast(200), await fast(100)]
    await database.pool.query(`update swaps set created_at = created_at - interval '1 s' where id = $1`, [
      paid,
    ])
    const { deps, sent, outputs } = planning()

    await deliverLocked(deps, lease, heads)
    await database.pool.query('update exposure set cents = 0')
    await database.pool.query('update swaps set origin_safe = true, exposed_cents = 0 where id = $1', [paid])
    await deliverLocked(deps, lease, heads)
    const waiting = await read(late)
    await database.pool.query('update swaps set origin_final = true where id = $1', [late])
    await deliverLocked(deps, lease, heads)

    expect(waiting).toMatchObject({ state: 'locked', waiting: { reason: 'finality' } })
    expect([sent, outputs]).toEqual([
      [[paid], [late]],
      [985n, 990n],
    ])
    expect(await read(late)).toMatchObject({ isPaidFast: false })
  })

  test('is not told to wait for finality while the caps are not known', async () => {
    const swapId = await fast(200)
    const none = () => ({ exposedCents: 0n, fastCents: 0n, unclaimedCents: 10_000n })

    await deliverLocked(workerSeeing({ capsOf: none }).deps, lease, heads)

    expect(await read(swapId)).toMatchObject({ state: 'locked', waiting: undefined })
  })

  test('is not told to wait for finality while only the cap of unclaimed value is full', async () => {
    const swapId = await fast(200)
    const full = () => ({ ...capsOf(), unclaimedCents: 100n })

    await deliverLocked(workerSeeing({ capsOf: full }).deps, lease, heads)

    expect(await read(swapId)).toMatchObject({ state: 'locked', waiting: undefined })
  })

  test('is not paid again with another amount when its delivery is sent again', async () => {
    const swapId = await fast(200)
    const { deps } = planning()
    await deliverLocked(deps, lease, heads)

    const swap = await read(swapId)

    expect(swap && [isFastDue(swap), isExposing(swap), swap.op.quotedOutput]).toEqual([false, false, 985n])
  })
})
