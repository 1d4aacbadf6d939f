import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import type { Swap } from '../swap/swap.ts'
import { readInventory, setHoldings } from './inventory.ts'
import { advanceSwap, advanceSwaps, advanceTogether, type Change } from './swap-moves.ts'
import {
  areUnmoved,
  findSwaps,
  findSwapsByDelivery,
  findSwapsByOp,
  markDeliveriesFinal,
  setDeliveredBlock,
  setDeliveryTxHash,
  setLockedBlock,
} from './swaps.ts'

const database = useTestDatabase()

async function accepted(): Promise<Swap> {
  const { swapId } = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  return find(swapId)
}

async function find(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  if (!swap) throw new Error('Swap not found')
  return swap
}

test('of two workers that read the same version, one moves the swap, and the other is refused', async () => {
  const swap = await accepted()

  const proof = { kind: 'neverSigned', chainId: 1, block: undefined } as const
  const first = await advanceSwap(database.pool, { swap, event: 'lockRecorded' })
  const second = await advanceSwap(database.pool, {
    swap,
    event: 'declined',
    failureCode: 'PRICE_MOVED',
    proof,
  })

  expect([first?.state, second]).toEqual(['locking', undefined])
  expect(await find(swap.id)).toMatchObject({ state: 'locking', version: swap.version + 1 })
})

test('a move changes no other swap', async () => {
  const [moved, other] = [await accepted(), await accepted()]

  await advanceSwap(database.pool, { swap: moved, event: 'lockRecorded' })

  expect(await find(other.id)).toEqual(other)
})

test('an event that the state does not accept changes nothing', async () => {
  const swap = await accepted()

  expect(await advanceSwap(database.pool, { swap, event: 'claimRecorded' })).toBeUndefined()
  expect(await find(swap.id)).toEqual(swap)
})

test('swaps move together, or not at all if one has moved', async () => {
  const [first, second] = [await accepted(), await accepted()]
  const both = [first, second]
  expect(await areUnmoved(database.pool, both)).toBe(true)
  expect(await advanceTogether(database.pool, { swaps: both, event: 'lockRecorded' })).toBe(true)

  expect(await areUnmoved(database.pool, both)).toBe(false)
  expect(await advanceTogether(database.pool, { swaps: both, event: 'lockRecorded' })).toBe(false)
  expect((await find(first.id)).version).toBe(first.version + 1)
  const locking = await Promise.all(both.map(({ id }) => find(id)))
  await moveTestSwap(database.pool, { swapId: second.id, accountId: '' }, 'lockSeen')
  expect(await advanceTogether(database.pool, { swaps: locking, event: 'lockRecorded' })).toBe(false)
  expect(await advanceTogether(database.pool, { swaps: locking, event: 'claimRecorded' })).toBe(false)
})

const holding = async (chainId: number, token: string) =>
  (await readInventory(database.pool)).find((each) => each.chainId === chainId && each.token === token)?.held

test.each([
  ['a newer block', 11n, 7n],
  ['the same block, read again', 10n, 7n],
  ['an older block, which changes nothing', 9n, 5n],
])('a vault balance is that of %s', async (_, block, held) => {
  const token = `token-${block}`
  await setHoldings(database.pool, { chainId: 1, block: 10n }, [{ token, amount: 5n }])
  await setHoldings(database.pool, { chainId: 2, block: 10n }, [{ token, amount: 5n }])

  await setHoldings(database.pool, { chainId: 1, block }, [{ token, amount: 7n }])

  expect([await holding(1, token), await holding(2, token)]).toEqual([held, 5n])
})

/** Books of chains and tokens, with room for some swaps. */
const openBooks = () =>
  database.pool.query(`
    truncate swaps, ops, exposure, claim_books, inventory cascade;
    insert into exposure (chain_id, cents, unclaimed_cents) values (31337, 500, 500), (5, 500, 500);
    insert into claim_books (chain_id, token, open, claimed, hour) values
      (31337, 'input', 5000, 0, 0), (31337, 'other', 5000, 0, 0), (5, 'input', 5000, 0, 0);
    insert into inventory (chain_id, token, held, reserved, at_block) values
      (31338, 'output', 9000, 4000, 1), (31338, 'other', 9000, 2000, 1), (5, 'output', 9000, 2000, 1)`)

/** A swap of 100 cents that is being delivered: its output is reserved, and all of its bookings are made. */
async function insertDelivering(): Promise<Swap> {
  const { pool } = database
  const { swapId } = await insertTestSwap(pool, await insertTestAccount(pool))
  for (const event of ['lockRecorded', 'lockSeen', 'deliveryRecorded'] as const)
    await moveTestSwap(pool, { swapId, accountId: '' }, event)
  const booked = 'exposed_cents = 100, unclaimed_cents = 100, claim_booked = true'
  await pool.query(`update swaps set ${booked} where id = $1`, [swapId])
  return find(swapId)
}

async function delivering(): Promise<Swap> {
  await openBooks()
  return insertDelivering()
}

const books = async () => {
  const { pool } = database
  const numbers = async (sql: string) =>
    (await pool.query({ text: sql, rowMode: 'array' })).rows.flat().map(Number)
  return {
    exposure: await numbers('select cents, unclaimed_cents from exposure order by chain_id desc'),
    claims: await numbers('select open from claim_books order by chain_id desc, token'),
    held: await numbers('select held from inventory order by chain_id desc, token desc'),
    reserved: await numbers('select reserved from inventory order by chain_id desc, token desc'),
  }
}

const kept = {
  exposure: [500, 500, 500, 500],
  claims: [5_000, 5_000, 5_000],
  held: [9_000, 9_000, 9_000],
  reserved: [4_000, 2_000, 2_000],
}
const paid = { held: [8_010, 9_000, 9_000], reserved: [3_010, 2_000, 2_000] }
const freed = { reserved: [3_010, 2_000, 2_000] }
const unclaimed = { claims: [4_000, 5_000, 5_000] }
const proof = { proof: {} }
const refund = { refundReason: 'DELIVERY_EXPIRED', proof: {} } as const
const ended = { failureCode: 'OPERATION_EXPIRED', proof: {} } as const

type Steps = [Parameters<typeof moveTestSwap>[2], Parameters<typeof moveTestSwap>[3]][]

test.each<[string, string, Steps, object]>([
  ['is delivered again', '', [['deliveryRecorded', {}]], {}],
  ['is settled', '', [['deliverySeen', {}]], paid],
  [
    'is to be refunded',
    'origin_final = true',
    [['deliveryImpossible', refund]],
    { ...freed, ...unclaimed, exposure: [500, 400, 500, 500] },
  ],
  ['fails', '', [['lockDead', ended]], { ...freed, ...unclaimed, exposure: [400, 400, 500, 500] }],
  [
    'fails, not booked as a claim',
    'claim_booked = false',
    [['lockDead', ended]],
    { ...freed, exposure: [400, 400, 500, 500] },
  ],
  [
    'is refunded',
    'origin_final = true',
    [['refundFinal', {}]],
    { ...freed, ...unclaimed, exposure: [500, 400, 500, 500] },
  ],
  [
    'is claimed',
    '',
    [
      ['deliverySeen', {}],
      ['claimFinal', { claimedBySeconds: 1 }],
    ],
    { ...paid, ...unclaimed, exposure: [500, 400, 500, 500] },
  ],
  [
    'is lost',
    '',
    [
      ['deliverySeen', {}],
      ['inputLost', proof],
    ],
    { ...paid, ...unclaimed },
  ],
])(
  'a delivered swap that %s releases what it no longer needs, of its own tokens and chains',
  async (_, change, steps, released) => {
    const { id } = await delivering()
    if (change) await database.pool.query(`update swaps set ${change}`)

    for (const [event, facts] of steps)
      await moveTestSwap(database.pool, { swapId: id, accountId: '' }, event, facts)

    expect(await books()).toEqual({ ...kept, ...released })
  },
)

test('swaps that move together release as much as one after the other, of each token and chain', async () => {
  const { pool } = database
  const ending = async (isTogether: boolean) => {
    await openBooks()
    const swaps: Swap[] = []
    for (let count = 0; count < 4; count += 1) swaps.push(await insertDelivering())
    const [, other, origin, last] = swaps.map(({ id }) => id)
    await pool.query(`update swaps set input_token = 'other' where id = $1`, [other])
    await pool.query(`update swaps set origin_chain = 5, origin_final = true where id = $1`, [origin])
    await pool.query(`update ops set pay_token = 'other' from swaps s where s.op_id = ops.id and s.id = $1`, [
      last,
    ])
    const seen = swaps.map((swap) => ({ swap, event: 'deliverySeen', deliveryTxHash: '0xpaid' }) as const)
    const settled = isTogether ? await advanceSwaps(pool, seen) : await advanceEach(seen)
    const claims = settled
      .slice(0, 3)
      .map(
        (swap, index) =>
          ({ swap, event: 'claimFinal', claimedBySeconds: 7_200 + (index % 2) * 3_600 }) as const,
      )
    const lost = settled.slice(3).map((swap) => ({ swap, event: 'inputLost', proof: PROOF }) as const)
    const changes = [...claims, ...lost]
    const closed = isTogether ? await advanceSwaps(pool, changes) : await advanceEach(changes)
    const spent = await pool.query('select claimed, hour from claim_books order by chain_id desc, token')
    return { states: closed.map(({ state }) => state), books: await books(), spent: spent.rows }
  }
  const apart = await ending(false)

  expect(await ending(true)).toEqual(apart)
  expect(apart.states).toEqual(['closed', 'closed', 'closed', 'closed'])
  expect(apart.books).toEqual({
    exposure: [500, 300, 500, 400],
    claims: [3_000, 4_000, 4_000],
    held: [6_030, 8_010, 9_000],
    reserved: [1_030, 1_010, 2_000],
  })
})

const PROOF = {
  kind: 'refundedAfterDelivery',
  chainId: 31_337,
  block: { number: 1n, hash: '0x', seconds: 1 },
} as const

async function advanceEach(changes: readonly Change[]): Promise<Swap[]> {
  const moved: Swap[] = []
  for (const change of changes) moved.push(...(await advanceSwaps(database.pool, [change])))
  return moved
}

test('of claims that are final together, only those of the last hour count against its cap', async () => {
  const { pool } = database
  const claimedIn = async (known: number, hours: readonly number[]) => {
    await openBooks()
    const swaps: Swap[] = []
    for (const _ of hours) swaps.push(await insertDelivering())
    await pool.query(`update claim_books set claimed = 7, hour = $1`, [known])
    const seen = swaps.map((swap) => ({ swap, event: 'deliverySeen', deliveryTxHash: '0xpaid' }) as const)
    const settled = await advanceSwaps(pool, seen)
    await advanceSwaps(
      pool,
      settled.map((swap, index) => ({
        swap,
        event: 'claimFinal',
        claimedBySeconds: (hours[index] ?? 0) * 3_600,
      })),
    )
    const book = `select open, claimed, hour from claim_books where chain_id = 31337 and token = 'input'`
    return (await pool.query({ text: book, rowMode: 'array' })).rows.flat().map(Number)
  }

  expect(await claimedIn(5, [5, 5])).toEqual([3_000, 2_007, 5])
  expect(await claimedIn(5, [4, 4])).toEqual([3_000, 7, 5])
  expect(await claimedIn(5, [4, 5])).toEqual([3_000, 1_007, 5])
  expect(await claimedIn(5, [5, 6])).toEqual([3_000, 1_000, 6])
})

test('of swaps that move together, one that moved meanwhile stays, and the others move', async () => {
  const { pool } = database
  const swaps = [await accepted(), await accepted(), await accepted()]
  const locking = await advanceSwaps(
    pool,
    swaps.map((swap) => ({ swap, event: 'lockRecorded' })),
  )
  const [, stale] = locking
  await moveTestSwap(pool, { swapId: stale?.id ?? '', accountId: '' }, 'lockSeen')

  const moved = await advanceSwaps(
    pool,
    locking.map((swap, index) => ({ swap, event: 'lockSeen', originTxHash: `0x${index}`, lockedBlock: 7n })),
  )

  expect(moved.map(({ id, originTxHash }) => [id, originTxHash])).toEqual([
    [swaps[0]?.id, '0x0'],
    [swaps[2]?.id, '0x2'],
  ])
  expect((await find(stale?.id ?? '')).originTxHash).toBeUndefined()
  expect(await advanceSwaps(pool, [])).toEqual([])
})

test('a lock that a reorg undid leaves no block, no transaction and no safety behind', async () => {
  const { pool } = database
  const { id } = await accepted()
  const swap = { swapId: id, accountId: '' }
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 7n })
  await pool.query('update swaps set origin_safe = true where id = $1', [id])
  const columns = 'select locked_block, origin_tx_hash, origin_safe from swaps where id = $1'
  const locked = { locked_block: '7', origin_tx_hash: '0xlock', origin_safe: true }
  expect((await pool.query(columns, [id])).rows).toEqual([locked])

  await moveTestSwap(pool, swap, 'lockLost')

  const none = { locked_block: null, origin_tx_hash: null, origin_safe: false }
  expect((await pool.query(columns, [id])).rows).toEqual([none])
})

test('facts stay until newer ones replace them', async () => {
  const { pool } = database
  const { id } = await accepted()
  const swap = { swapId: id, accountId: '' }
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 7n })
  const event = 'deliveryRecorded'
  const first = await advanceSwap(pool, { swap: await find(id), event, deliveryTxHash: '0xfirst' })
  await moveTestSwap(pool, swap, event, { deliveryTxHash: '0xsecond' })
  await moveTestSwap(pool, swap, 'deliverySeen', { delivered: 990n, deliveredBlock: 9n })

  expect(first).toMatchObject({ originTxHash: '0xlock', deliveryTxHash: '0xfirst' })
  expect(
    (
      await pool.query(
        'select locked_block, origin_tx_hash, delivery_tx_hash, delivered, delivered_block from swaps where id = $1',
        [id],
      )
    ).rows,
  ).toEqual([
    {
      ...{ locked_block: '7', origin_tx_hash: '0xlock', delivery_tx_hash: '0xsecond' },
      ...{ delivered: '990', delivered_block: '9' },
    },
  ])
})

test('a stage is in the timeline with its transaction, and only when it is a new one', async () => {
  const { pool } = database
  const { id } = await accepted()
  const swap = { swapId: id, accountId: '' }
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockRecorded')
  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 7n })
  await moveTestSwap(pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xpaid' })

  const [row] = (await pool.query('select timeline from swaps where id = $1', [id])).rows
  expect(row.timeline.map(({ at: _, ...entry }: { at: string }) => entry)).toEqual([
    { stage: 'accepted' },
    { stage: 'locking' },
    { stage: 'locked', chainId: 31_337, txHash: '0xlock' },
    { stage: 'delivering', chainId: 31_338, txHash: '0xpaid' },
  ])
})

const deliveryOf = async ({ id }: Swap) =>
  (
    await database.pool.query(
      `select delivery_tx_hash as hash, delivered_block as block, delivery_final as final from swaps where id = $1`,
      [id],
    )
  ).rows[0]

test('a delivery follows the chain until it is final, for its own swap', async () => {
  const { pool } = database
  const [swap, other] = [await accepted(), await accepted()]
  await setLockedBlock(pool, swap, 4n)
  await setDeliveredBlock(pool, swap, { block: 5n, txHash: '0xfirst' })
  expect(await deliveryOf(swap)).toEqual({ hash: '0xfirst', block: '5', final: false })
  expect(await setDeliveryTxHash(pool, [swap], '0xsecond')).toBe(true)
  expect(await setDeliveryTxHash(pool, [swap, { id: 'swp_unknown' }], '0xsecond')).toBe(false)

  await markDeliveriesFinal(pool, [{ id: swap.id, deliveryTxHash: '0xfinal' }])
  await markDeliveriesFinal(pool, [{ id: swap.id, deliveryTxHash: '0xlater' }])
  await setDeliveredBlock(pool, swap, { block: 9n, txHash: '0xlater' })

  expect(await deliveryOf(swap)).toEqual({ hash: '0xfinal', block: '5', final: true })
  expect(await deliveryOf(other)).toEqual({ hash: null, block: null, final: false })
  const { rows } = await pool.query('select id from swaps where locked_block = 4')
  expect(rows).toEqual([{ id: swap.id }])
})

test('no swap is looked for without a name', async () => {
  const { pool } = database
  const swap = await accepted()
  expect(
    await Promise.all([findSwaps, findSwapsByOp, findSwapsByDelivery].map((by) => by(pool, []))),
  ).toEqual([...[[], [], []]])

  expect((await findSwapsByOp(pool, [swap.op.hash])).map(({ id }) => id)).toEqual([swap.id])
  expect((await findSwapsByDelivery(pool, [swap.op.deliveryHash])).map(({ id }) => id)).toEqual([swap.id])
})
