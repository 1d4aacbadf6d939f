import { createLogins } from '@geoswap/devnet'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, startTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { ageEventLog, backdateTestSwap, monthAt, partitionsOf } from '../../test/support/event-log.ts'
import { insertTestOp, insertTestSwap, settleTestSwap } from '../../test/support/swaps.ts'
import { bookGas, readBooks } from './books.ts'
import { createPool } from './db.ts'
import { addEventMonths, dropMonth, findPastMonths } from './events.ts'
import { findLostInputs, insertLostInput, writeOffInput } from './exposure.ts'
import { PARTS, type Part } from './grants.ts'
import { adoptOrphan, findUnlogged, readNextNonce } from './rebuild.ts'
import { deleteDoneEvents, deleteEventsOf, deleteUnsubmittedOps, FIRST_EVENT, FIRST_OP } from './retention.ts'
import { insertSwap } from './submissions.ts'
import { findSwaps } from './swaps.ts'
import { replay } from './webhook-deliveries.ts'
import { insertEndpoint, removeEndpoint, rotateSecret } from './webhook-endpoints.ts'

// Rare operations; end-to-end tests cover the others under these roles.

let database: TestDatabase
let owner: Pool
let by: Record<Part, Pool>
let accountId: string
beforeEach(async () => {
  database = await startTestDatabase()
  owner = database.pool
  const urls = await createLogins(database.url)
  by = Object.fromEntries(PARTS.map((part) => [part, createPool(urls[part], { max: 2 })])) as typeof by
  accountId = await insertTestAccount(owner)
})
afterEach(async () => {
  await Promise.all(Object.values(by).map((pool) => pool.end()))
  await database.stop()
})

test('the worker creates, clears and drops months of the log', async () => {
  await ageEventLog(owner)
  const swap = await insertTestSwap(owner, accountId)
  await settleTestSwap(by.worker, swap)

  expect(await addEventMonths(by.worker)).toHaveLength(9)
  await backdateTestSwap(owner, swap)
  const month = await monthAt(owner, -5)
  const cleared = await deleteEventsOf(by.worker, { month, after: FIRST_EVENT, limit: 100 })

  expect(cleared.deleted).toBe(4)
  expect(await findPastMonths(by.worker, { olderThanDays: 90 })).toContain(month)
  expect(await dropMonth(by.worker, month)).toBe(true)
  expect(await partitionsOf(owner, swap)).toEqual([])
})

test.each(['api', 'worker', 'attester'] as const)(
  'the %s sees which transactions of its keys the database lacks',
  async (part) => {
    const key = { chainId: 1, address: '0xkey' }

    expect(await findUnlogged(by[part], 1, [{ txHash: '0xlost', block: 5n }])).toEqual(['0xlost'])
    expect(await readNextNonce(by[part], key)).toBe(0)
  },
)

test('the worker books gas and deletes events of chains, and operator and API read the books', async () => {
  for (const balance of [9n, 7n])
    await bookGas(by.worker, { chainId: 1, balances: new Map([['0xkey', balance]]), usdE6Of: () => 4n })
  await deleteDoneEvents(by.worker, { olderThanDays: 8, limit: 10 })

  for (const part of ['operator', 'api'] as const)
    expect(await readBooks(by[part], { days: 1 })).toMatchObject({ networkE6: 4n, gas: [{ amount: 2n }] })
})

test.each(['this month', 'no month', 'a table'])(
  'the function that drops months refuses %s',
  async (what) => {
    const name = {
      'this month': await monthAt(owner, 2),
      'no month': 'swap_events_default',
      'a table': 'swaps',
    }[what]

    const dropping = by.worker.query('select drop_swap_event_month($1)', [name])

    await expect(dropping).rejects.toThrow('is no month of the log that is over')
  },
)

test('a submission of the API appears in the log and the history, which the API cannot write itself', async () => {
  const opId = await insertTestOp(owner, accountId)
  await insertSwap(by.api, { swapId: 'swp_1', opId, signature: '0x' })

  const events = await by.api.query("select state from swap_events where swap_id = 'swp_1'")
  const history = await by.api.query("select status from account_swaps where swap_id = 'swp_1'")

  expect([events.rows, history.rows]).toEqual([[{ state: 'accepted' }], [{ status: 'pending' }]])
})

test('the worker stores the terms of an orphan, and of no other op', async () => {
  const orphan = await insertTestSwap(owner, accountId)
  const other = await insertTestSwap(owner, accountId)
  await owner.query('update ops set is_orphan = true where id = (select op_id from swaps where id = $1)', [
    orphan.swapId,
  ])
  for (const { swapId } of [orphan, other]) {
    const [swap] = await findSwaps(by.worker, [swapId])
    if (!swap) throw new Error('Swap not found')
    await adoptOrphan(by.worker, { ...swap.op, recipient: 'found', terms: {}, destinationBlock: 7n })
  }

  const recipients = (await findSwaps(by.worker, [orphan.swapId, other.swapId])).map(({ op }) => op.recipient)
  expect(recipients.sort()).toEqual(['found', 'recipient'])
})

test('the worker deletes unsubmitted ops', async () => {
  const opId = await insertTestOp(owner, accountId)
  await owner.query("update ops set expires_at = now() - interval '2 days' where id = $1", [opId])

  const { deleted } = await deleteUnsubmittedOps(by.worker, {
    olderThanHours: 24,
    after: FIRST_OP,
    limit: 10,
  })

  expect(deleted).toBe(1)
})

test('the worker records a lost input, and the operator writes it off', async () => {
  const { swapId } = await insertTestSwap(owner, accountId)
  const [swap] = await findSwaps(by.worker, [swapId])
  if (!swap) throw new Error('Swap not found')
  await insertLostInput(by.worker, swap)

  expect(await writeOffInput(by.operator, { swapId, note: 'known' })).toBe(true)
  expect(await findLostInputs(by.operator)).toEqual([])
})

test('the operator creates webhook endpoints, replays events, and removes endpoints', async () => {
  const swap = await insertTestSwap(owner, accountId)
  await owner.query('update swap_events set position = 1')
  await insertEndpoint(by.operator, { id: 'we_1', accountId, url: 'https://a.example', secret: 'sealed' })
  await rotateSecret(by.operator, { id: 'we_1', secret: 'new', hours: 1 })

  expect(await replay(by.operator, 'we_1', { swapId: swap.swapId })).toBe(1)
  expect(await replay(by.operator, 'we_1', { failed: true })).toBe(0)
  await removeEndpoint(by.operator, 'we_1')
  expect((await owner.query('select from webhook_deliveries')).rowCount).toBe(0)
})
