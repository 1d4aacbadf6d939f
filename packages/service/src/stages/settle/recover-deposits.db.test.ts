import { beforeEach, expect, test } from 'vitest'
import { insertTestAttempt } from '../../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestOp, moveTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, Held, OriginWays } from '../../chains/chain.ts'
import type { Work } from '../../engine/sender.ts'
import type { ViewOfChain } from '../../engine/views.ts'
import { markAttemptsFinal } from '../../store/attempts.ts'
import type { PastPlace } from '../../store/deposits.ts'
import type { Lease } from '../../store/lanes.ts'
import { insertSwap } from '../../store/submissions.ts'
import type { CatalogChain } from '../../swap/catalog.ts'
import type { Op } from '../../swap/swap.ts'
import { createReturnCosts, type RecoverDeps, recoverDeposits } from './recover-deposits.ts'

const CHAIN = 31_337
const DAY = 86_400
const NOW = 1_000_000

const database = useTestDatabase()
beforeEach(() =>
  database.pool.query(
    'delete from swap_events; delete from attempt_swaps; delete from swaps; delete from ops',
  ),
)

async function insertAwaiting(swapId: string, opDeadline = NOW - 1, account?: string): Promise<void> {
  const { pool } = database
  const opId = await insertTestOp(pool, account ?? (await insertTestAccount(pool)))
  await pool.query(`update ops set method = 'deposit', op_deadline = $2 where id = $1`, [opId, opDeadline])
  await insertSwap(pool, { swapId, opId, signature: '' })
}

/** A swap by deposit that waits no more. */
async function insertPast(swapId: string, opDeadline?: number, account?: string): Promise<TestSwap> {
  await insertAwaiting(swapId, opDeadline, account)
  const swap = { swapId, accountId: '' }
  await moveTestSwap(database.pool, swap, 'depositSeen')
  return swap
}

type Seen = {
  hard?: Held[]
  head?: Held[]
  isWorth?: RecoverDeps['isWorth']
  most?: bigint
  room?: number
  fails?: string
  refused?: string
  after?: PastPlace
}

const held = (token: string, amount = 5n): Held => ({ token, amount })

/** One round of a worker that sees this at every address. Returns what it sends, and the reads. */
async function recover({ hard = [held('input')], head = hard, ...seen }: Seen = {}) {
  const sent: string[] = []
  let refreshed = 0
  const at: Block = { number: 9n, height: 9n, hash: '0x', seconds: NOW + 50 }
  const heads: Heads = { head: at, settle: at, hard: { ...at, number: 1n, seconds: NOW } }
  const ways: Partial<OriginWays> = {
    readDeposits: async (ops: readonly Op[], tokens, { number }) => {
      const here = (number === 9n ? head : hard).filter(({ token }) => tokens.includes(token))
      return new Map(ops.map(({ hash }) => [hash, here]))
    },
    planRecover: async (_op, token) => ({ token }) as never,
    wouldRecover: async ({ token }) => token !== seen.refused,
  }
  const send = async (_lease: Lease, _heads: Heads, { role, request, swapIds, record }: Work) => {
    if (swapIds[0] === seen.fails) throw new Error('refused by the node')
    const isRecorded = await record(database.pool as never, {} as never)
    sent.push(`${role} ${stub<Held>(request).token} of ${swapIds.join()} ${isRecorded}`)
    return true
  }
  const deps = {
    pool: database.pool,
    chainId: CHAIN,
    ways,
    sender: { send, room: () => seen.room ?? 1 },
    tokens: ['input', 'other'],
    refreshPrices: async () => {
      refreshed += 1
    },
    isWorth: seen.isWorth ?? (() => true),
    mostReturns: () => seen.most ?? 100n,
  }
  const faults: Error[] = []
  await recoverDeposits(stub<RecoverDeps>(deps), {} as Lease, heads, seen.after, faults)
  const fault = faults[0]?.message
  return { sent: sent.sort(), refreshed, fault }
}

test('a deposit that lies at an address after its deadline is sent back', async () => {
  await insertPast('swp_a')

  expect(await recover()).toEqual({ sent: ['recover input of swp_a true'], refreshed: 1, fault: undefined })
})

test.each<[string, Seen]>([
  ['nothing lies there', { hard: [] }],
  ['it is not final yet', { hard: [], head: [held('input')] }],
  ['it has gone meanwhile', { head: [] }],
  ['another token is left', { head: [held('other')] }],
  ['it is worth less than sending it', { isWorth: () => false }],
  ['there is no price', { isWorth: () => undefined }],
  ['the key has no room', { room: 0 }],
])('nothing is sent back if %s', async (_, seen) => {
  await insertPast('swp_a')

  expect(await recover(seen)).toMatchObject({ sent: [], fault: undefined })
})

test('prices are read only if something lies at an address', async () => {
  expect((await recover()).refreshed).toBe(0)
  await insertPast('swp_a')
  expect((await recover({ hard: [], head: [held('input')] })).refreshed).toBe(0)
})

test('of several tokens the first that is worth it goes back first', async () => {
  await insertPast('swp_a')

  const { sent } = await recover({
    hard: [held('input'), held('other')],
    isWorth: ({ token }) => token === 'other',
  })

  expect(sent).toEqual(['recover other of swp_a true'])
})

test.each([
  ['at its deadline', NOW],
  ['a day later', NOW - DAY],
])('%s an address is left to its owner', async (_, deadline) => {
  await insertPast('swp_a', deadline)

  expect((await recover()).sent).toEqual([])
})

test('an address is looked at within a day, unless its swap still waits for the deposit', async () => {
  await insertPast('swp_a', NOW - DAY + 1)
  await insertAwaiting('swp_b')

  expect((await recover()).sent).toEqual(['recover input of swp_a true'])
})

test('nothing else is sent back from an address until the last transaction is final', async () => {
  const swap = await insertPast('swp_a')
  const id = await insertTestAttempt(database.pool, swap, 'recover')
  expect((await recover()).sent).toEqual([])

  await markAttemptsFinal(database.pool, [{ id }], 1n)
  expect((await recover()).sent).toHaveLength(1)
})

test('each token is sent back once, and what comes or stays after that is for the owner', async () => {
  await insertPast('swp_a')
  const both = { hard: [held('input'), held('other')] }

  const sent = [await recover(both), await recover(both), await recover(both)].map((look) => look.sent)

  expect(sent).toEqual([['recover input of swp_a true'], ['recover other of swp_a true'], []])
})

test('a token that the wallet would not get costs no gas, and hides no other token', async () => {
  await insertPast('swp_a')
  const both = { hard: [held('input'), held('other')], refused: 'input' }

  const sent = [await recover(both), await recover(both), await recover(both)].map((look) => look.sent)

  expect(sent).toEqual([[], ['recover other of swp_a true'], []])
})

test('beyond the budget of its account a return waits for the next hour, and others do not', async () => {
  const account = await insertTestAccount(database.pool)
  for (const swapId of ['swp_a', 'swp_b', 'swp_c']) await insertPast(swapId, NOW - 1, account)
  await insertPast('swp_other')

  const [first, same] = [await recover({ most: 2n }), await recover({ most: 2n })]
  await database.pool.query(`update recover_tries set tried_at = tried_at - interval '1 hour'`)
  const next = await recover({ most: 2n })

  const back = (swapId: string) => `recover input of ${swapId} true`
  expect(first.sent).toEqual([back('swp_a'), back('swp_b'), back('swp_other')])
  expect([same.sent, next.sent]).toEqual([[], [back('swp_c')]])
})

test('an amount goes back if it is worth two transactions, and as many as the budget of its account pays', () => {
  const coin = { chainId: CHAIN, address: '0x0', symbol: 'ETH', decimals: 18, asset: 'ETH' }
  const costsAt = (gasPrice: bigint | undefined, accountCents = 2_000) =>
    createReturnCosts({
      chain: { chainId: CHAIN },
      catalog: {
        chains: new Map([[CHAIN, stub<CatalogChain>({ native: coin, tokens: [coin] })]]),
        assets: new Map(),
      },
      prices: { priceOf: () => 2_500n * 10n ** 18n },
      view: stub<ViewOfChain>({ part: () => (gasPrice === undefined ? undefined : { value: { gasPrice } }) }),
      gasBudgets: { accountCents },
    })
  const of = (amount: bigint) => ({ token: coin.address, amount })
  const cost = 83_500n * 10n ** 9n

  const { isWorth, mostReturns } = costsAt(10n ** 9n)
  expect([isWorth(of(2n * cost)), isWorth(of(2n * cost - 1n))]).toEqual([true, false])
  // 20 dollars, of 0.20875 each.
  expect([mostReturns(), costsAt(10n ** 9n, 20).mostReturns()]).toEqual([95n, 1n])
  expect(costsAt(undefined).mostReturns()).toBeUndefined()
  expect(costsAt(0n).mostReturns()).toBeGreaterThan(10n ** 9n)
})

test('inputs that came in by other ways, or on other chains, are not deposits', async () => {
  await insertPast('swp_a')
  await database.pool.query("update ops set method = 'permit'")
  await insertPast('swp_b')
  await database.pool.query("update ops set origin_chain = 5 where method = 'deposit'")

  expect((await recover()).sent).toEqual([])
})

test('an address that cannot be emptied delays no other, and is reported', async () => {
  await insertPast('swp_a')
  await insertPast('swp_b')

  expect(await recover({ fails: 'swp_a' })).toMatchObject({
    sent: ['recover input of swp_b true'],
    fault: 'refused by the node',
  })
})

test('a look goes on after the last swap, and never before the first that is watched', async () => {
  for (const swapId of ['swp_a', 'swp_b']) await insertPast(swapId, NOW - DAY + 1)
  await insertPast('swp_old', NOW - DAY)

  const next = await recover({ after: { opDeadline: NOW - DAY + 1, id: 'swp_a' } })
  await database.pool.query('delete from recover_tries')
  const first = await recover({ after: { opDeadline: NOW - DAY - 1, id: 'swp_z' } })

  expect(next.sent).toEqual(['recover input of swp_b true'])
  expect(first.sent).toEqual(['recover input of swp_a true', 'recover input of swp_b true'])
})
