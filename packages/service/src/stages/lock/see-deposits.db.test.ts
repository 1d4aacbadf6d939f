import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import type { Block, Heads, Held, OriginWays } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { readSpentCents } from '../../store/api-keys.ts'
import { setDepositTx } from '../../store/deposits.ts'
import { insertSwap } from '../../store/submissions.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Op } from '../../swap/swap.ts'
import type { DepositVerdict } from './screen-deposits.ts'
import { seeDeposits } from './see-deposits.ts'

const CHAIN = 31_337
const DEADLINE = 1_000

const database = useTestDatabase()
beforeEach(() =>
  database.pool.query(
    `delete from swap_events; delete from swaps; delete from ops; delete from inventory;
     insert into inventory (chain_id, token, held, reserved, at_block) values (31338, 'output', 1980, 0, 1)`,
  ),
)

/** A swap of 1,000 that waits for its deposit. */
async function awaitDeposit(swapId: string, token = 'input', spending?: Spending): Promise<string> {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query(`update ops set method = 'deposit', op_deadline = $2, input_token = $3 where id = $1`, [
    opId,
    DEADLINE,
    token,
  ])
  await insertSwap(pool, { swapId, opId, signature: '', spending })
  return swapId
}
type Spending = { keyId: string; maxCents: bigint }

type Seen = {
  verdict?: DepositVerdict
  meanwhile?: () => Promise<void>
  amount?: bigint
  seconds?: number
  chainId?: number
  unreadable?: string
  odd?: string
  movesMeanwhile?: boolean
}

const moved: string[] = []
const forgotten: string[] = []
beforeEach(() => {
  moved.splice(0)
  forgotten.splice(0)
})

/** One look at the addresses, of which each holds this amount of its own token. */
async function see({ amount = 0n, seconds = 0, chainId = CHAIN, ...seen }: Seen, after?: string) {
  const at: Block = { number: 9n, height: 9n, hash: '0x', seconds }
  const hard: Block = { ...at, number: 1n }
  const heads: Heads = { head: at, settle: hard, hard }
  const ways: Partial<OriginWays> = {
    readDeposits: async (ops: readonly Op[], [token = '']: readonly string[], block) => {
      if (token === seen.unreadable) throw new Error(`${token} cannot be read`)
      if (token === seen.odd) return new Map()
      await seen.meanwhile?.()
      if (seen.movesMeanwhile)
        await database.pool.query('update swaps set version = version + 1, updated_at = now()')
      const held: Held[] = block.number === 9n && amount > 0n ? [{ token, amount }] : []
      return new Map(ops.map(({ hash }) => [hash, held]))
    },
  }
  const screening = seen.verdict && {
    verdictOf: () => seen.verdict as DepositVerdict,
    forget: (swapId: string) => void forgotten.push(swapId),
  }
  const deps = { pool: database.pool, chainId, ways: ways as OriginWays, onReceived() {}, screening }
  const moves = createMoves(database.pool, ({ id }, { event }) => moved.push(`${id} ${event}`))
  const faults: unknown[] = []
  const next = await seeDeposits({ ...deps, moves }, heads, { after }, faults)
  return { next, faults }
}

const stateOf = async (swapId: string) => {
  const [swap] = await findSwaps(database.pool, [swapId])
  return { state: swap?.state, deposit: swap?.deposit }
}
const reserved = async () => (await database.pool.query('select reserved from inventory')).rows[0].reserved

test('a deposit of the whole input is accepted, and reserves the output', async () => {
  const swapId = await awaitDeposit('swp_a')

  await see({ amount: 1_000n, seconds: DEADLINE - 1 })

  expect(await stateOf(swapId)).toEqual({ state: 'accepted', deposit: { received: '1000' } })
  expect(moved).toEqual(['swp_a depositSeen'])
  expect(await reserved()).toBe('990')
})

test.each<[string, Seen]>([
  ['less than the input', { amount: 999n }],
  ['the input, but at the deadline', { amount: 1_000n, seconds: DEADLINE }],
])('%s is recorded, and the swap waits', async (_, seen) => {
  const swapId = await awaitDeposit('swp_a')

  await see(seen)

  const received = String(seen.amount)
  expect(await stateOf(swapId)).toEqual({ state: 'awaitingDeposit', deposit: { received } })
  expect(moved).toEqual([])
  expect(await reserved()).toBe('0')
})

test('an address that nobody has paid to has no facts', async () => {
  const swapId = await awaitDeposit('swp_a')

  await see({})

  expect(await stateOf(swapId)).toEqual({ state: 'awaitingDeposit', deposit: undefined })
})

test('a deposit waits while the vault has too little left, and is accepted later', async () => {
  const swapId = await awaitDeposit('swp_a')
  await database.pool.query('update inventory set reserved = 991')

  await see({ amount: 1_000n })
  expect(await stateOf(swapId)).toEqual({ state: 'awaitingDeposit', deposit: { received: '1000' } })
  expect(moved).toEqual([])

  await database.pool.query('update inventory set reserved = 990')
  await see({ amount: 1_000n })
  expect((await stateOf(swapId)).state).toBe('accepted')
})

test('a deposit counts for the day of its key once it is there, and waits if the day has too little left', async () => {
  const { pool } = database
  await pool.query('update inventory set held = 10_000')
  const keyId = crypto.randomUUID()
  await pool.query(
    `insert into api_keys (id, account_id, hash, name) values ($1, $2, sha256('key'), 'key')`,
    [keyId, await insertTestAccount(pool)],
  )
  const ids = ['swp_a', 'swp_b']
  for (const id of ids) await awaitDeposit(id, 'input', { keyId, maxCents: 150n })
  await pool.query('update ops set value_cents = 100')
  const states = () => Promise.all(ids.map(async (id) => (await stateOf(id)).state))

  await see({})
  const unpaid = await readSpentCents(pool, keyId)
  await pool.query('update inventory set reserved = held')
  await see({ amount: 1_000n })
  const unreserved = await readSpentCents(pool, keyId)
  await pool.query('update inventory set reserved = 0')
  await see({ amount: 1_000n })
  await see({ amount: 1_000n })

  expect([unpaid, unreserved, await readSpentCents(pool, keyId)]).toEqual([0n, 0n, 100n])
  expect([await states(), await reserved()]).toEqual([['accepted', 'awaitingDeposit'], '990'])
  await pool.query('update key_spending set day = day - 1')
  await see({ amount: 1_000n })
  expect(await states()).toEqual(['accepted', 'accepted'])
})

test('a swap that moved while its deposit was accepted is reported, and reserves nothing', async () => {
  await awaitDeposit('swp_a')

  const { faults } = await see({ amount: 1_000n, movesMeanwhile: true })

  expect(faults).toEqual([new Error('Swap swp_a moved on before depositSeen')])
  expect([moved, await reserved()]).toEqual([[], '0'])
})

test('after the deadline a lower balance says nothing about what came, and a higher one does', async () => {
  const swapId = await awaitDeposit('swp_a')
  await see({ amount: 500n })

  await see({ amount: 499n, seconds: DEADLINE })
  expect((await stateOf(swapId)).deposit).toEqual({ received: '500' })
  await see({ amount: 501n, seconds: DEADLINE })
  expect((await stateOf(swapId)).deposit).toEqual({ received: '501' })
})

test('before the deadline a reorg may take a deposit back', async () => {
  const swapId = await awaitDeposit('swp_a')
  await see({ amount: 500n })

  await see({ amount: 0n, seconds: DEADLINE - 1 })

  expect((await stateOf(swapId)).deposit).toEqual({ received: '0' })
})

test('a token that cannot be read delays only its own deposits, and is reported', async () => {
  const [first, second] = [await awaitDeposit('swp_a', 'broken'), await awaitDeposit('swp_b')]

  const { faults } = await see({ amount: 1_000n, unreadable: 'broken' })

  expect(faults).toEqual([new Error('broken cannot be read')])
  expect((await stateOf(first)).state).toBe('awaitingDeposit')
  expect((await stateOf(second)).state).toBe('accepted')
})

test('a token that does not tell says nothing about a deposit that was seen before', async () => {
  const swapId = await awaitDeposit('swp_a')
  await see({ amount: 500n })

  const { faults } = await see({ odd: 'input' })

  expect(faults).toEqual([])
  expect((await stateOf(swapId)).deposit).toEqual({ received: '500' })
})

test('each look goes on after the last one, and leaves other chains alone', async () => {
  const [first, second] = [await awaitDeposit('swp_a'), await awaitDeposit('swp_b')]

  await see({ amount: 1_000n, chainId: 5 })
  await see({ amount: 1_000n }, first)

  expect((await stateOf(first)).state).toBe('awaitingDeposit')
  expect((await stateOf(second)).state).toBe('accepted')
})

test('three hundred deposits are looked at together, and the next look begins after them', async () => {
  const { pool } = database
  const accountId = await insertTestAccount(pool)
  await pool.query(
    `insert into ops (id, quote_id, account_id, hash, delivery_hash, terms, origin_chain, destination_chain,
            wallet, input_token, input_amount, output_token, quoted_output, min_output, swappable, price_floor,
            recipient, locker, position, round, op_deadline, fill_deadline, refund_deadline, wallet_balance,
            wallet_block, value_cents, origin_block, destination_block, venue, pay_token, pay_amount, expires_at,
            method)
     select id, id, $1, id, id, '{}', 31337, 31338, 'wallet', 'input', 1000, 'output', 990, 980, 1, 1, 'recipient',
            'locker', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'inventory', 'output', 990, now() + interval '1 hour', 'deposit'
       from (select gen_random_uuid() as id from generate_series(1, 301)) as new`,
    [accountId],
  )
  const { rows } = await pool.query<{ id: string }>('select id from ops order by id')
  for (const [index, { id }] of rows.entries())
    await insertSwap(pool, { swapId: `swp_${1_000 + index}`, opId: id, signature: '' })

  expect(await see({})).toEqual({ next: 'swp_1299', faults: [] })
  expect(await see({}, 'swp_1299')).toEqual({ next: undefined, faults: [] })
})

test('a deposit waits for its decision, and keeps the transaction that was found meanwhile', async () => {
  const swapId = await awaitDeposit('swp_screened')
  const received = '1000'

  await see({ amount: 1_000n, verdict: { kind: 'wait' } })
  expect(await stateOf(swapId)).toEqual({ state: 'awaitingDeposit', deposit: { received } })
  await see({
    amount: 1_000n,
    verdict: { kind: 'allow', senders: ['0xa', '0xb'] },
    meanwhile: () => setDepositTx(database.pool, { id: swapId, received, txHash: '0xtx' }),
  })

  const [swap] = await findSwaps(database.pool, [swapId])
  expect(swap).toMatchObject({ state: 'accepted', deposit: { received, txHash: '0xtx' } })
  expect(swap?.depositSenders).toEqual(['0xa', '0xb'])
})

test.each([0n, 999n])(
  'a decision is forgotten once %d of 1000 units are left at the address',
  async (amount) => {
    const swapId = await awaitDeposit('swp_undone')
    const verdict = { kind: 'wait' } as const

    await see({ amount: 1_000n, verdict })
    expect(forgotten).toEqual([])
    await see({ amount, verdict })
    expect(forgotten).toEqual([swapId])
  },
)

test('a denied deposit fails its swap without a reservation, so that it goes back', async () => {
  const swapId = await awaitDeposit('swp_denied')

  await see({ amount: 1_000n, verdict: { kind: 'deny' } })

  expect(await stateOf(swapId)).toMatchObject({ state: 'failed' })
  const { rows } = await database.pool.query('select failure_code, proof from swaps where id = $1', [swapId])
  expect(rows[0]).toMatchObject({ failure_code: 'ADDRESS_BLOCKED', proof: { kind: 'neverSigned' } })
  expect(await reserved()).toBe('0')
})
