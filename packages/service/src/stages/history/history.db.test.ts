import { beforeAll, describe, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import {
  insertEndedSwaps,
  insertTestOp,
  insertTestSwap,
  moveTestSwap,
  settleTestSwap,
  statusOfTestSwap,
  type TestSwap,
} from '../../../test/support/swaps.ts'
import { insertSwap } from '../../store/submissions.ts'
import { type CatalogChain, recordCaip } from '../../swap/catalog.ts'
import { type HistoryDeps, history } from './history.ts'

const database = useTestDatabase()
let deps: HistoryDeps
beforeAll(async () => {
  const chains = [31_337, 5].map((chainId) => [chainId, { chainId, family: 'evm' } as CatalogChain] as const)
  const catalog = { chains: new Map(chains), assets: new Map() }
  deps = { pool: database.pool, catalog, parseWallet: (text) => (text.startsWith('w') ? text : undefined) }
})

async function insertMany(accountId: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1)
    ids.push((await insertTestSwap(database.pool, accountId)).swapId)
  return ids
}

async function idsOf(accountId: string, query: Parameters<typeof history>[2] = {}): Promise<string[]> {
  return (await history(deps, accountId, query)).swaps.map(({ swapId }) => swapId)
}

test('an item contains the status reply and the request', async () => {
  const accountId = await insertTestAccount(database.pool)
  const swap = await insertTestSwap(database.pool, accountId, 'w1')
  await settleTestSwap(database.pool, swap)

  const { swaps, nextCursor } = await history(deps, accountId, {})

  const asked = { walletAddress: 'w1', recipient: 'recipient', inputToken: 'input', outputToken: 'output' }
  const status = await statusOfTestSwap(database.pool, swap)
  expect(swaps).toEqual([{ ...status, ...asked, caip: recordCaip({ ...status, ...asked }) }])
  expect(nextCursor).toBeUndefined()
})

test('the wallet that signed a request sees its own swaps only', async () => {
  const accountId = await insertTestAccount(database.pool)
  const { swapId } = await insertTestSwap(database.pool, accountId, 'w1')
  await insertTestSwap(database.pool, accountId, 'w2')
  const swapsOf = async (wallet: string, query = {}) =>
    (await history(deps, accountId, query, { wallet })).swaps.map((swap) => swap.swapId)

  expect(await swapsOf('w1')).toEqual([swapId])
  expect(await swapsOf('w1', { wallet: 'w1' })).toEqual([swapId])
  expect(await swapsOf('w3')).toEqual([])
  await expect(swapsOf('w1', { wallet: 'w2' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('pages are newest first, 20 swaps by default, and later submissions shift nothing', async () => {
  const accountId = await insertTestAccount(database.pool)
  const ids = (await insertMany(accountId, 45)).reverse()
  await insertMany(await insertTestAccount(database.pool), 3)

  const first = await history(deps, accountId, {})
  await insertMany(accountId, 5)
  const second = await history(deps, accountId, { cursor: first.nextCursor ?? '' })
  const third = await history(deps, accountId, { cursor: second.nextCursor ?? '' })

  const pages = [first, second, third].map(({ swaps }) => swaps.map(({ swapId }) => swapId))
  expect(pages.map((page) => page.length)).toEqual([20, 20, 5])
  expect(pages.flat()).toEqual(ids)
  expect(third.nextCursor).toBeUndefined()
})

test('a page that holds the last swap has no next one', async () => {
  const accountId = await insertTestAccount(database.pool)
  const ids = await insertMany(accountId, 2)

  expect((await history(deps, accountId, { limit: 2 })).nextCursor).toBeUndefined()
  expect(await history(deps, accountId, { limit: 1 })).toHaveProperty('nextCursor')
  expect(await idsOf(accountId, { limit: 2 })).toEqual(ids.reverse())
})

test('400 INVALID_REQUEST answers a wallet on no chain', async () => {
  const accountId = await insertTestAccount(database.pool)

  await expect(history(deps, accountId, { wallet: ':w1' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

test('swaps of one instant each appear on one page', async () => {
  const accountId = await insertTestAccount(database.pool)
  const ids = await insertMany(accountId, 7)
  await database.pool.query('update account_swaps set created_at = $2 where account_id = $1', [
    accountId,
    '2026-01-02T03:04:05.123456Z',
  ])

  const seen: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await history(deps, accountId, { limit: 2, ...(cursor && { cursor }) })
    seen.push(...page.swaps.map(({ swapId }) => swapId))
    cursor = page.nextCursor
  }

  expect(seen.sort()).toEqual(ids.sort())
})

describe('filters', () => {
  let accountId: string
  let settled: TestSwap
  let failed: TestSwap
  let pending: TestSwap
  beforeAll(async () => {
    const { pool } = database
    accountId = await insertTestAccount(pool)
    settled = await insertTestSwap(pool, accountId, 'w1')
    failed = await insertTestSwap(pool, accountId, 'w2')
    pending = await insertTestSwap(pool, accountId, 'w1')
    await settleTestSwap(pool, settled)
    await moveTestSwap(pool, settled, 'claimRecorded')
    await moveTestSwap(pool, failed, 'declined', { failureCode: 'PRICE_MOVED', proof: {} })
  })

  test('by wallet and by status, alone and together', async () => {
    expect(await idsOf(accountId, { wallet: 'w1' })).toEqual([pending.swapId, settled.swapId])
    expect(await idsOf(accountId, { status: 'settled' })).toEqual([settled.swapId])
    expect(await idsOf(accountId, { status: 'failed' })).toEqual([failed.swapId])
    expect(await idsOf(accountId, { status: 'pending', wallet: 'w1' })).toEqual([pending.swapId])
    expect(await idsOf(accountId, { status: 'refunded' })).toEqual([])
  })

  test('by a wallet on one chain', async () => {
    expect(await idsOf(accountId, { wallet: 'eip155:31337:w2' })).toEqual([failed.swapId])
    expect(await idsOf(accountId, { wallet: 'eip155:5:w2' })).toEqual([])
  })

  test('by the name that the caller gave, which several swaps may have and no other account sees', async () => {
    const { pool } = database
    const nameSwap = async (ofAccount: string, name: string) => {
      const opId = await insertTestOp(pool, ofAccount)
      await pool.query('update ops set external_id = $2 where id = $1', [opId, name])
      await insertSwap(pool, { swapId: `swp_${opId}`, opId, signature: '0x' })
      return `swp_${opId}`
    }
    const [other, named] = [await insertTestAccount(pool), await insertTestAccount(pool)]
    const ids = [await nameSwap(named, 'order-1'), await nameSwap(named, 'order-1')]
    await nameSwap(named, 'order-2')
    await nameSwap(other, 'order-1')

    const { swaps } = await history(deps, named, { externalId: 'order-1' })

    expect(swaps.map(({ swapId, externalId }) => [swapId, externalId])).toEqual(
      ids.reverse().map((id) => [id, 'order-1']),
    )
    expect(await idsOf(named, { externalId: 'order-3' })).toEqual([])
  })

  test('by time: from is included, to is not', async () => {
    const at = '2026-01-02T03:04:05.000Z'
    await database.pool.query('update account_swaps set created_at = $2 where swap_id = $1', [
      failed.swapId,
      at,
    ])

    expect(await idsOf(accountId, { from: at, to: '2026-01-02T03:04:05.001Z' })).toEqual([failed.swapId])
    expect(await idsOf(accountId, { to: at })).toEqual([])
    expect(await idsOf(accountId, { from: '2026-01-02T03:04:06Z' })).toEqual([pending.swapId, settled.swapId])
  })

  const wrong: [string, Parameters<typeof history>[2]][] = [
    ['wallet', { wallet: '0x' }],
    ['wallet', { wallet: 'x1w1' }],
    ['wallet', { wallet: 'eip155:31337:x' }],
    ['wallet', { wallet: 'eip155:9:w1' }],
    ['cursor', { cursor: 'nonsense' }],
    ['cursor', { cursor: Buffer.from('2026-13-02T03:04:05.000000Z swp_1').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('2026-02-30T03:04:05.000000Z swp_1').toString('base64url') }],
    ['from', { from: '2026-13-02T03:04:05Z' }],
    ['from', { from: '2026-02-30T03:04:05Z' }],
    ['from', { from: '0000-01-01T00:00:00Z' }],
    ['to', { to: '2026-01-02T24:00:00Z' }],
    ['to', { to: '2026-01-02T25:04:05Z' }],
  ]
  test.each(wrong)('400 INVALID_REQUEST names %s for %j', async (field, query) => {
    const refused = history(deps, accountId, query)

    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { issues: [expect.objectContaining({ field })] },
    })
  })
})

test('every kind of page is read from an index, in its order', async () => {
  const busy = await insertTestAccount(database.pool)
  await insertEndedSwaps(
    database.pool,
    busy,
    Array.from({ length: 3_000 }, (_, index) => `w${index % 3}`),
  )
  await database.pool.query('analyze swaps, ops, account_swaps')
  const plans: string[] = []
  const explaining: HistoryDeps = {
    ...deps,
    pool: Object.assign(Object.create(database.pool), {
      async query(text: string, values: unknown[]) {
        const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
        return { rows: [] }
      },
    }),
  }
  const cursor = Buffer.from('2026-01-02T03:04:05.123456Z swp_1').toString('base64url')
  const times = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }

  const named = { externalId: 'order-7' }
  await database.pool.query("update account_swaps set external_id = 'order-' || substring(wallet, 2)")
  await database.pool.query('analyze account_swaps')

  for (const query of [
    {},
    { cursor },
    { status: 'failed' as const },
    { wallet: 'w1' },
    { ...times, cursor },
    named,
  ])
    await history(explaining, busy, query)

  expect(plans).toHaveLength(6)
  for (const plan of plans) {
    expect(plan).toMatch(/Index (Only )?Scan Backward using account_swaps/)
    expect(plan).not.toMatch(/Sort|Seq Scan/)
  }
})
