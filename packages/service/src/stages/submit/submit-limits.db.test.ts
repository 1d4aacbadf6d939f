import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { createSubmit } from '../../../test/support/submit.ts'
import { insertTestOp, insertTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'

const database = useTestDatabase()
beforeAll(async () => {
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 1000, 0, 1)`,
  )
})

const submit = createSubmit(database)

describe('liquidity without a lock', () => {
  const reservations = { walletBps: 2_500, accountBps: 5_000 }
  const OTHERS_HOLD = 4_000

  /** An op that pays this much of the 10,000 that are left; others hold 4,000 more. */
  async function storeOpOf(accountId: string, wallet: string, pays: number): Promise<string> {
    const { pool } = database
    const opId = await insertTestOp(pool, accountId, wallet)
    await pool.query(
      'update ops set wallet_balance = 100000, pay_amount = $2, input_amount = $2 where id = $1',
      [opId, pays],
    )
    return opId
  }
  const submitOf = async (accountId: string, wallet: string, pays: number) =>
    submit({ opId: await storeOpOf(accountId, wallet, pays) }, { reservations })
  const refusedAt = (maxAmount: string) => ({ code: 'INSUFFICIENT_LIQUIDITY', recovery: { maxAmount } })

  beforeEach(async () => {
    await database.pool.query('truncate swaps, account_swaps cascade')
    await database.pool.query('update inventory set held = 10000 + $1::int, reserved = $1', [OTHERS_HOLD])
  })

  test('a wallet holds back a quarter of what is left, an account half, and the refusal names the rest', async () => {
    const accountId = await insertTestAccount(database.pool)

    await expect(submitOf(accountId, 'one', 2_501)).rejects.toMatchObject(refusedAt('2500'))
    await submitOf(accountId, 'one', 2_000)
    await expect(submitOf(accountId, 'one', 501)).rejects.toMatchObject(refusedAt('500'))
    await submitOf(accountId, 'two', 2_000)
    await expect(submitOf(accountId, 'three', 1_001)).rejects.toMatchObject(refusedAt('1000'))
    await submitOf(accountId, 'three', 1_000)

    const { rows } = await database.pool.query('select reserved from inventory')
    expect(rows).toEqual([{ reserved: String(OTHERS_HOLD + 5_000) }])
  })

  test('wallets of one account that submit at once hold back half together', async () => {
    const accountId = await insertTestAccount(database.pool)

    const wallets = Array.from({ length: 8 }, (_, index) => `wallet ${index}`)
    const results = await Promise.allSettled(wallets.map((wallet) => submitOf(accountId, wallet, 1_200)))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  })

  test('an account whose locks failed lately holds back less, and others as much as before', async () => {
    const [bad, good] = [await insertTestAccount(database.pool), await insertTestAccount(database.pool)]
    for (const wallet of ['a', 'b', 'c', 'd', 'e']) await submitOf(bad, wallet, 10)
    await withoutGuards(`update swaps set state = 'failed', failure_code = 'INPUT_UNAVAILABLE', proof = '{}'`)
    await database.pool.query(`update account_swaps set status = 'failed'`)
    await database.pool.query('update inventory set reserved = $1', [OTHERS_HOLD])
    // They cost their account nothing, and hide no failure.
    const unpaid = Array.from({ length: 60 }, () => insertTestSwap(database.pool, bad, 'depositor'))
    const ids = (await Promise.all(unpaid)).map(({ swapId }) => swapId)
    await withoutGuards(
      `update swaps set state = 'failed', failure_code = 'DEPOSIT_MISSING', proof = '{}' where wallet = 'depositor'`,
    )
    await database.pool.query(`update account_swaps set status = 'failed' where swap_id = any($1)`, [ids])

    for (const wallet of ['f', 'g']) await submitOf(bad, wallet, 1_200)
    // Half of its last ten swaps failed: a quarter is left to it.
    await expect(submitOf(bad, 'h', 101)).rejects.toMatchObject(refusedAt('100'))
    expect(await submitOf(good, 'h', 1_500)).toMatchObject({ status: 'pending' })
  })
})

describe('wasted gas', () => {
  const CENT_E6 = 10_000n
  beforeAll(() => database.pool.query('update inventory set held = 1000000, reserved = 10000'))

  /** A wallet whose transactions of this hour cost this much and had no effect. */
  async function waste(scope: 'wallet' | 'account' | 'chain', id: string, cents: number): Promise<void> {
    await database.pool.query(
      `insert into wasted_hours (scope, id, hour, usd_e6)
       values ($1, $2, date_trunc('hour', clock_timestamp()), $3)`,
      [scope, id, (BigInt(cents) * CENT_E6).toString()],
    )
  }
  async function storeOpOf(accountId: string, wallet: string, isContract = false): Promise<string> {
    const opId = await insertTestOp(database.pool, accountId, wallet)
    const sql = 'update ops set wallet_balance = 100000, is_contract = $2, pay_amount = 1 where id = $1'
    await database.pool.query(sql, [opId, isContract])
    return opId
  }
  const refused = (scope: string) => ({ code: 'RATE_LIMITED', details: { budget: 'wastedGas', scope } })

  test('a wallet over its budget is refused until the next hour, and no other wallet is', async () => {
    const accountId = await insertTestAccount(database.pool)
    await waste('wallet', 'wasteful', 200)

    const refusal = submit({ opId: await storeOpOf(accountId, 'wasteful') })

    await expect(refusal).rejects.toMatchObject({
      ...refused('wallet'),
      recovery: { retryAfterMs: expect.any(Number) },
    })
    expect(await submit({ opId: await storeOpOf(accountId, 'thrifty') })).toMatchObject({ status: 'pending' })
  })

  test('an account over its budget brings no new wallets, and the wallets that it knows go on', async () => {
    const accountId = await insertTestAccount(database.pool)
    await settleTestSwap(database.pool, await insertTestSwap(database.pool, accountId, 'customer'))
    await waste('account', accountId, 2_000)

    await expect(submit({ opId: await storeOpOf(accountId, 'stranger') })).rejects.toMatchObject(
      refused('account'),
    )
    expect(await submit({ opId: await storeOpOf(accountId, 'customer') })).toMatchObject({
      status: 'pending',
    })
  })

  test('a chain over its budget takes no more contract wallets, and all others', async () => {
    const accountId = await insertTestAccount(database.pool)
    await waste('chain', '31337', 10_000)

    await expect(submit({ opId: await storeOpOf(accountId, 'coded', true) })).rejects.toMatchObject(
      refused('chain'),
    )
    expect(await submit({ opId: await storeOpOf(accountId, 'keyed') })).toMatchObject({ status: 'pending' })
    await database.pool.query('truncate wasted_hours')
  })

  test('a hundred submissions of contract wallets at once leave as many locks open as the budget pays', async () => {
    const accountId = await insertTestAccount(database.pool)
    const ops = await Promise.all(
      Array.from({ length: 100 }, (_, index) => storeOpOf(accountId, `contract ${index % 50}`, true)),
    )

    // A lock costs one dollar: two per wallet, and twenty per account.
    const limits = { lockUsdE6: () => 100n * CENT_E6 }
    const results = await Promise.allSettled(ops.map((opId) => submit({ opId }, limits)))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refusals.every((reason) => reason.details?.scope === 'pending')).toBe(true)
  })

  test('payments on Solana at once open as many accounts as the budget pays, unlike those on EVM', async () => {
    const accountId = await insertTestAccount(database.pool)
    const pay = async (index: number, deliveryHash: string) => {
      const opId = await storeOpOf(accountId, `${deliveryHash} ${index % 10}`)
      const sql = `update ops set method = 'payment', delivery_hash = ${deliveryHash} where id = $1`
      await database.pool.query(sql, [opId])
      return submit({ opId }, { lockUsdE6: () => 100n * CENT_E6 })
    }
    const payMany = async (deliveryHash: string) => {
      const paid = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => pay(at, deliveryHash)))
      return paid.filter(({ status }) => status === 'fulfilled').length
    }

    expect(await payMany(`hash || 'evm'`)).toBe(30)
    expect(await payMany('hash')).toBe(20)
  })

  test('a publishable key takes no contract wallet, unless the operator allowed it', async () => {
    const accountId = await insertTestAccount(database.pool)
    const opId = await storeOpOf(accountId, 'coded for a page', true)
    const caller = { keyId: 'key', kind: 'publishable', rules: {} } as const

    await expect(submit({ opId, caller })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const allowed = { ...caller, rules: { contractWallets: true } }
    expect(await submit({ opId, caller: allowed })).toMatchObject({ status: 'pending' })
  })
})

/** A row of any state, also such as no worker could reach here. */
async function withoutGuards(sql: string): Promise<void> {
  await database.pool.query(
    `alter table swaps disable trigger user; ${sql}; alter table swaps enable trigger user`,
  )
}
