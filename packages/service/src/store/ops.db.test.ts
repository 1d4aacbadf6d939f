import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp, insertTestSwap } from '../../test/support/swaps.ts'
import { unquotedTerms } from '../model/quote.ts'
import type { Db } from './db.ts'
import { countUnsubmitted, insertOp } from './ops.ts'
import { insertSwap } from './submissions.ts'
import { findSwaps } from './swaps.ts'

const database = useTestDatabase()

test('an op is read as it was stored, every field from its own column', async () => {
  const { pool } = database
  const op = {
    ...unquotedTerms,
    id: crypto.randomUUID(),
    hash: 'hash',
    deliveryHash: 'delivery hash',
    originChain: 1,
    destinationChain: 2,
    wallet: 'wallet',
    inputToken: 'input token',
    inputAmount: 2n ** 256n - 1n,
    outputToken: 'output token',
    quotedOutput: 3n,
    minOutput: 4n,
    swappable: 5n,
    venue: 'venue',
    payToken: 'pay token',
    payAmount: 6n,
    priceFloor: 7n,
    recipient: 'recipient',
    createsAccount: true,
    locker: 'locker',
    position: 8n,
    round: 9n,
    opDeadline: 10,
    fillDeadline: 11,
    refundDeadline: 12,
    valueCents: 13n,
    lockFeeBound: 14n,
    deliveryFeeBound: 15n,
    walletBlock: 16n,
    originBlock: 17n,
    destinationBlock: 18n,
  }
  const accountId = await insertTestAccount(pool)
  await insertOp(pool, { ...op, quoteId: 'quote', accountId, terms: { index: 19n }, walletBalance: 20n }, 60)
  await insertSwap(pool, { swapId: 'swp_read', opId: op.id, signature: '0x' })

  const [swap] = await findSwaps(pool, ['swp_read'])
  const { rows } = await pool.query(
    'select quote_id, account_id, terms, wallet_balance from ops where id = $1',
    [op.id],
  )

  expect(swap).toMatchObject({ id: 'swp_read', op })
  expect(rows).toEqual([
    { quote_id: 'quote', account_id: accountId, terms: { index: '19' }, wallet_balance: '20' },
  ])
})

test('only ops that can still be submitted are counted, neither submitted nor expired ones', async () => {
  const { pool } = database
  const account = await insertTestAccount(pool)
  await insertTestSwap(pool, account)
  const over = await insertTestOp(pool, account)
  await pool.query(`update ops set expires_at = now() - interval '1 second' where id = $1`, [over])
  await insertTestOp(pool, account)

  expect(await countUnsubmitted(pool, account)).toBe(1)
})

test('a build reads the live ops of its account, not all of them', async () => {
  const client = await database.pool.connect()
  const plans: string[] = []
  const explaining = {
    query: async (text: string, values: unknown[]) => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return { rows: [] }
    },
  } as unknown as Db
  try {
    await client.query('set enable_seqscan = off')
    await countUnsubmitted(explaining, 'acc_any')
  } finally {
    client.release(true)
  }

  expect(plans.join()).toMatch(/Index Cond: .*account_id.*expires_at/)
})
