import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { createSubmit } from '../../../test/support/submit.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import { insertSwap, lockSubmission } from '../../store/submissions.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Submitted } from './submit-once.ts'

const HOUR_MS = 3_600_000

const database = useTestDatabase()
beforeAll(async () => {
  await database.pool.query(
    `insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 1000, 0, 1)`,
  )
})

const submit = createSubmit(database)

async function storeOp({ wallet = 'wallet', balance = 10_000, method = 'delegation' } = {}): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool), wallet)
  await pool.query('update ops set wallet_balance = $2, method = $3 where id = $1', [opId, balance, method])
  return opId
}

test('an op that was deleted long after its expiry is expired, not forged', async () => {
  const opId = randomUUID()

  await expect(submit({ opId, expiresAt: Date.now() - 25 * HOUR_MS })).rejects.toMatchObject({
    code: 'OPERATION_EXPIRED',
  })
})

test.each([
  ['is too young to have been deleted', Date.now() - 23 * HOUR_MS],
  ['has no expiry', undefined],
])('a missing op that %s is not reported as expired', async (_, expiresAt) => {
  await expect(submit({ opId: randomUUID(), expiresAt })).rejects.toMatchObject({ code: 'INVALID_TOKEN' })
})

test('the first submission and a repeated one answer with the name that the caller gave', async () => {
  const opId = await storeOp({ method: 'deposit', balance: 0 })
  await database.pool.query("update ops set external_id = 'order-4711' where id = $1", [opId])

  const replies = [await submit({ opId }), await submit({ opId })]

  expect(replies.map(({ externalId }) => externalId)).toEqual(['order-4711', 'order-4711'])
})

test('an op that one process found expired by block height stays expired for a process that is behind', async () => {
  const opId = await storeOp()

  await expect(submit({ opId, isOver: true })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
  await expect(submit({ opId })).rejects.toMatchObject({ code: 'OPERATION_EXPIRED' })
})

test('when other swaps took the liquidity the caller learns how much is left', async () => {
  const [first, second] = [await storeOp(), await storeOp()]
  await submit({ opId: first })

  // 10 of the 1000 are left, and 990 are paid for 1000.
  await expect(submit({ opId: second })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    message: expect.stringContaining('at most recovery.maxAmount'),
    recovery: { maxAmount: '10' },
  })
})

test('without any liquidity left the caller is asked to wait, but not for a deposit of any wallet', async () => {
  const opId = await storeOp()
  await database.pool.query('update inventory set held = reserved')

  await expect(submit({ opId })).rejects.toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    message: expect.stringContaining('Request a fresh quote later'),
    recovery: { maxAmount: '0', action: 'RETRY_LATER', retryAfterMs: 5_000 },
  })
  const deposit = await storeOp({ method: 'deposit', balance: 0 })
  expect(await submit({ opId: deposit })).toMatchObject({ status: 'pending' })
})

const giveLiquidity = () => database.pool.query('update inventory set held = 1000000, reserved = 0')

test('422 INSUFFICIENT_BALANCE counts the open swaps of the wallet, whoever signed', async () => {
  await giveLiquidity()
  const ops: string[] = []
  for (const wallet of ['two', 'two', 'two']) ops.push(await storeOp({ wallet, balance: 2_000 }))
  const [first = '', second = '', third = ''] = ops
  await submit({ opId: first })
  await submit({ opId: second })

  const verify = () => Promise.reject(new Error('Not signed'))
  await expect(submit({ opId: third, verify })).rejects.toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    recovery: { chainId: 31_337, balance: '2000', open: '2000', required: '1000' },
  })
})

test.each([
  ['was deleted', 'INVALID_TOKEN', 'delete from ops where id = $1'],
  ['expired', 'OPERATION_EXPIRED', 'update ops set expires_at = now() where id = $1'],
  ['cannot be paid', 'INSUFFICIENT_BALANCE', 'update ops set wallet_balance = 0 where id = $1'],
])('an op that %s while its signature was verified answers %s', async (_, code, change) => {
  await giveLiquidity()
  const opId = await storeOp()
  const verify = async () => {
    await database.pool.query(change, [opId])
    return { signature: '0x' }
  }

  await expect(submit({ opId, verify })).rejects.toMatchObject({ code })
})

test('submissions of one op at once are one swap, which is shown to nobody without the signature', async () => {
  await giveLiquidity()
  const opId = await storeOp({ wallet: 'once' })

  const replies = await Promise.all([1, 2, 3, 4].map(() => submit({ opId })))

  expect(new Set(replies.map(({ swapId }) => swapId)).size).toBe(1)
  const verify = () => Promise.reject(new Error('Not signed'))
  await expect(submit({ opId, verify })).rejects.toThrow('Not signed')
})

/** Submits while another process has stored the swap of an op, and not committed it yet. */
async function submitDuring(other: { opId: string; swapId: string }, own: Parameters<typeof submit>[0]) {
  const { pool } = database
  const awaited = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  const early = await pool.connect()
  try {
    await early.query('begin')
    await lockSubmission(early, other.opId)
    await insertSwap(early, { ...other, signature: '0x' })
    const late = Promise.allSettled([submit(own)])
    await vi.waitFor(async () => expect((await pool.query(awaited)).rows).not.toEqual([]), 5_000)
    await early.query('commit')
    return (await late)[0]
  } finally {
    early.release(true)
  }
}

test('a submission that comes too late waits for one that began in time, and answers its swap', async () => {
  const opId = await storeOp({ wallet: 'late' })

  const late = await submitDuring({ opId, swapId: 'swp_early' }, { opId, isOver: true })

  expect(late).toMatchObject({ value: { swapId: 'swp_early', status: 'pending' } })
  const { rows } = await database.pool.query('select expires_at > now() as lives from ops where id = $1', [
    opId,
  ])
  expect(rows).toEqual([{ lives: true }])
})

test('a submission waits for another of its wallet, whose input counts', async () => {
  await giveLiquidity()
  const stored = { wallet: 'turns', balance: 1_500 }
  const [opId, second] = [await storeOp(stored), await storeOp(stored)]

  const refused = await submitDuring({ opId, swapId: 'swp_first' }, { opId: second })

  expect(refused).toMatchObject({ reason: { code: 'INSUFFICIENT_BALANCE' } })
})

describe('limits of a key', () => {
  beforeAll(giveLiquidity)

  const createKey = async () => {
    const keyId = randomUUID()
    await database.pool.query(
      `insert into api_keys (id, account_id, hash, name) values ($1, $2, $3, 'test')`,
      [keyId, await insertTestAccount(database.pool), randomBytes(32)],
    )
    return keyId
  }
  const storeOpOf = async (cents: number) => {
    const opId = await storeOp()
    await database.pool.query('update ops set value_cents = $2 where id = $1', [opId, cents])
    return opId
  }
  const submitOf = async (cents: number, caller: Submitted['caller']) =>
    submit({ opId: await storeOpOf(cents), caller })

  test('422 KEY_LIMIT_EXCEEDED for a swap above the limit per swap, with the most that is allowed', async () => {
    const caller = { keyId: await createKey(), rules: { maxSwapCents: 500 } }

    await expect(submitOf(1_000, caller)).rejects.toMatchObject({
      code: 'KEY_LIMIT_EXCEEDED',
      recovery: { maxAmount: '500' },
    })
    expect(await submitOf(500, caller)).toMatchObject({ status: 'pending' })
  })

  test('submissions at once never exceed the limit per day together', async () => {
    const caller = { keyId: await createKey(), rules: { maxDayCents: 1_000 } }
    const ops = await Promise.all(Array.from({ length: 12 }, () => storeOpOf(300)))

    const results = await Promise.allSettled(ops.map((opId) => submit({ opId, caller })))

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(new Set(refusals)).toEqual(new Set(['KEY_LIMIT_EXCEEDED']))
    const { rows } = await database.pool.query('select cents from key_spending where key_id = $1', [
      caller.keyId,
    ])
    expect(rows).toEqual([{ cents: '900' }])
  })

  test('a swap that is submitted again, and a refused one, count nothing', async () => {
    const caller = { keyId: await createKey(), rules: { maxDayCents: 1_000 } }
    const opId = await storeOpOf(600)
    const first = await submit({ opId, caller })

    expect(await submit({ opId, caller })).toEqual(first)
    await expect(submitOf(600, caller)).rejects.toMatchObject({
      code: 'KEY_LIMIT_EXCEEDED',
      details: { limit: 'day', usd: '4.00' },
    })
    expect(await submitOf(400, caller)).toMatchObject({ status: 'pending' })
  })

  test('a deposit that nobody pays uses up no limit; one above the rest of the day is refused', async () => {
    const caller = { keyId: await createKey(), rules: { maxDayCents: 1_000 } }
    const by = async (method: string, cents: number) => {
      const opId = await storeOp({ wallet: 'depositor', method })
      await database.pool.query('update ops set value_cents = $2 where id = $1', [opId, cents])
      return submit({ opId, caller })
    }

    expect(await by('deposit', 1_000)).toMatchObject({ status: 'pending' })
    expect(await by('delegation', 600)).toMatchObject({ status: 'pending' })
    await expect(by('deposit', 401)).rejects.toMatchObject({ code: 'KEY_LIMIT_EXCEEDED' })
    expect(await by('deposit', 400)).toMatchObject({ status: 'pending' })
  })

  test('the limit per day is whole again on the next day', async () => {
    const caller = { keyId: await createKey(), rules: { maxDayCents: 1_000 } }
    await submitOf(1_000, caller)
    await database.pool.query('update key_spending set day = day - 1 where key_id = $1', [caller.keyId])

    expect(await submitOf(1_000, caller)).toMatchObject({ status: 'pending' })
    await expect(submitOf(1, caller)).rejects.toMatchObject({
      recovery: { maxAmount: '0' },
    })
  })

  test('submissions of one wallet at once never exceed its limit per day, which others do not use', async () => {
    const caller = { keyId: await createKey(), rules: { maxWalletDayCents: 1_000 } }
    const { pool } = database
    const accountId = await insertTestAccount(pool)
    const storeFor = async (wallet: string, token: string) => {
      const opId = await insertTestOp(pool, accountId, wallet)
      const set = 'value_cents = 300, wallet_balance = 10000, input_token = $2'
      await pool.query(`update ops set ${set} where id = $1`, [opId, token])
      return opId
    }
    const wallets = [...Array(5).fill('daily'), 'other']
    const ops = await Promise.all(wallets.map((wallet, index) => storeFor(wallet, `token ${index}`)))

    const results = await Promise.allSettled(ops.map((opId) => submit({ opId, caller })))

    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(2)
    for (const each of refused)
      expect(each).toMatchObject({
        code: 'KEY_LIMIT_EXCEEDED',
        details: { limit: 'wallet', usd: '1.00' },
      })
    await pool.query("update swaps set created_at = created_at - interval '1 day' where wallet = 'daily'")
    const next = await storeFor('daily', 'token')
    expect(await submit({ opId: next, caller })).toMatchObject({ status: 'pending' })
  })

  test('403 FORBIDDEN for a recipient or token that the key may not use, whoever asked for the quote', async () => {
    const keyId = await createKey()

    for (const rules of [{ recipients: ['somebody'] }, { tokens: ['31337:input'] }])
      await expect(submitOf(1, { keyId, rules })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})

test('a swap is stored for what the market pays now, and reserves no more', async () => {
  const { pool } = database
  const opId = await storeOp()
  await pool.query('update ops set pay_amount = 400, quoted_output = 400, min_output = 380 where id = $1', [
    opId,
  ])
  const reserved = async () =>
    Number((await pool.query(`select reserved from inventory where token = 'output'`)).rows[0].reserved)
  const before = await reserved()

  const { swapId } = await submit({ opId }, {}, () => ({ output: 390n, pay: 390n }))

  const [swap] = await findSwaps(pool, [swapId])
  expect(swap?.op).toMatchObject({ quotedOutput: 390n, payAmount: 390n, minOutput: 380n })
  expect((await reserved()) - before).toBe(390)
})
