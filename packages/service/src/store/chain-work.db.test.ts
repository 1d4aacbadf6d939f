import { expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import { storePage } from './chain-events.ts'
import { type ChainWork, readChainWork } from './chain-work.ts'
import { type Db, inTransaction } from './db.ts'

const [ORIGIN, DESTINATION] = [31_337, 31_338]

const database = useTestDatabase()

const workOf = (db: Db, { chainId = ORIGIN, head = 0n, hard = 0n } = {}) =>
  readChainWork(db, { chainId, head, hard: { number: hard, seconds: 0 }, senders: ['sender'] })

async function isEventExpected(db: Db, at: { chainId: number; head: bigint }): Promise<boolean> {
  return (await workOf(db, at)).isEventExpected
}

test('an event is expected in the blocks after the one at which its transaction was sent', async () => {
  const { pool } = database
  const isExpectedAt = (head: bigint) => isEventExpected(pool, { chainId: ORIGIN, head })
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await insertTestAttempt(pool, swap, 'lock', { sender: 'first' })
  await moveTestSwap(pool, swap, 'lockRecorded')

  expect(await isExpectedAt(0n)).toBe(false)
  expect(await isExpectedAt(1n)).toBe(true)

  await moveTestSwap(pool, swap, 'lockSeen', { originTxHash: '0xa', lockedBlock: 1n })
  expect(await isExpectedAt(1n)).toBe(false)

  await moveTestSwap(pool, swap, 'deliveryImpossible', { refundReason: 'NO_LIQUIDITY', proof: {} })
  await insertTestAttempt(pool, swap, 'refund', { sender: 'second' })
  await moveTestSwap(pool, swap, 'refundRecorded')
  expect(await isExpectedAt(1n)).toBe(true)
})

/** A swap with an attempt, in any state and role, beside a swap that waits for a lock without having one. */
async function insertAny() {
  const { pool } = database
  await pool.query('truncate swaps, tx_attempts cascade')
  for (const table of ['swaps', 'attempt_swaps', 'tx_attempts'])
    await pool.query(`alter table ${table} disable trigger user`)
  const accountId = await insertTestAccount(pool)
  const [{ swapId }, other] = [await insertTestSwap(pool, accountId), await insertTestSwap(pool, accountId)]
  const attemptId = await insertTestAttempt(pool, { swapId, accountId }, 'lock')
  await insertTestAttempt(pool, other, 'refund')
  await pool.query(`update swaps set state = 'locking'`)
  const set = async (state: string, role: string) => {
    await pool.query('update swaps set state = $2 where id = $1', [swapId, state])
    await pool.query('update attempt_swaps set role = $2 where swap_id = $1', [swapId, role])
  }
  return { attemptId, set }
}

test('each state waits for the event of its own transaction, on its own chain', async () => {
  const { pool } = database
  const { set } = await insertAny()
  const expected: string[] = []
  for (const state of ['accepted', 'locking', 'delivering', 'claiming', 'refunding'])
    for (const role of ['lock', 'deliver', 'claim', 'refund', 'recover']) {
      await set(state, role)
      for (const chainId of [ORIGIN, DESTINATION])
        if (await isEventExpected(pool, { chainId, head: 1n })) expected.push(`${state} ${role} ${chainId}`)
    }

  expect(expected.filter((each) => !each.includes('recover'))).toEqual([
    `locking lock ${ORIGIN}`,
    `delivering deliver ${DESTINATION}`,
    `claiming claim ${ORIGIN}`,
    `refunding refund ${ORIGIN}`,
  ])
  const returns = ['accepted', 'locking', 'delivering', 'claiming', 'refunding']
  expect(expected.filter((each) => each.includes('recover'))).toEqual(
    returns.map((state) => `${state} recover ${ORIGIN}`),
  )
})

test('an event is expected for a minute after the last change, and a return until it is final', async () => {
  const { pool } = database
  const { attemptId, set } = await insertAny()
  await set('failed', 'recover')
  const isExpected = () => isEventExpected(pool, { chainId: ORIGIN, head: 1n })
  const age = async (swapSeconds: number, attemptSeconds: number) => {
    const ago = (column: string) => `set ${column} = clock_timestamp() - make_interval(secs => $1)`
    await pool.query(`update swaps ${ago('updated_at')}`, [swapSeconds])
    await pool.query(`update tx_attempts ${ago('created_at')} where id = $2`, [attemptSeconds, attemptId])
    return isExpected()
  }

  expect([await age(61, 0), await age(0, 61), await age(61, 61)]).toEqual([true, true, false])
  await age(0, 0)
  await pool.query('update tx_attempts set final_at = clock_timestamp()')
  expect(await isExpected()).toBe(false)
})

/** Each swap and its attempt a thousand times, all of them over. */
async function insertEnded(db: Db) {
  await db.query(`set local session_replication_role = 'replica'`)
  const copy = (table: string, changed: string) =>
    db.query(
      `insert into ${table} overriding system value select (jsonb_populate_record(t, ${changed})).*
         from ${table} t, generate_series(1, 1000) as i`,
    )
  await copy(
    'swaps',
    `jsonb_build_object('id', t.id || i, 'op_id', gen_random_uuid(), 'quote_id', t.id || i)`,
  )
  await copy(
    'tx_attempts',
    `jsonb_build_object('id', t.id + i * 10, 'nonce', i + 10, 'tx_hash', t.tx_hash || i)`,
  )
  await copy(
    'attempt_swaps',
    `jsonb_build_object('attempt_id', t.attempt_id + i * 10, 'swap_id', t.swap_id || i)`,
  )
  await db.query(`update swaps set state = 'closed'`)
  await db.query('update tx_attempts set final_at = clock_timestamp()')
  await db.query('analyze swaps, tx_attempts, attempt_swaps')
}

test('swaps that ended are not read, however many there are', async () => {
  await insertAny()
  const plan = await inTransaction(database.pool, async (db) => {
    await insertEnded(db)
    const lines: string[] = []
    const query = async (text: string, values: unknown[]) => {
      const { rows } = await db.query(`explain (analyze, costs off) ${text}`, values)
      lines.push(...rows.map((row) => row['QUERY PLAN']))
      return { rows: [] }
    }
    await workOf(stub<Db>({ query }), { head: 1n }).catch(() => {})
    return lines.join('\n')
  })

  const read = [...plan.matchAll(/rows=(\d+)|Removed by Filter: (\d+)/g)].map(([, rows, gone]) =>
    Number(rows ?? gone),
  )
  expect(Math.max(...read)).toBeLessThan(100)
})

const workIn = async (chainId: number, hard = 0n) => {
  const { isEventExpected: _, ...work } = await workOf(database.pool, { chainId, hard })
  return Object.keys(work).filter((name) => work[name as keyof typeof work])
}

test('each kind of work of a chain is told while there is some', async () => {
  const { pool } = database
  await pool.query('truncate swaps, tx_attempts cascade')
  for (const table of ['swaps', 'attempt_swaps', 'tx_attempts'])
    await pool.query(`alter table ${table} disable trigger user`)
  const found: Record<string, string[][]> = {}
  const note = async (name: string) => {
    found[name] = [await workIn(ORIGIN), await workIn(DESTINATION)]
  }
  const set = (columns: string) => pool.query(`update swaps set ${columns}`)
  await note('nothing')
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await note('accepted')
  await set(`state = 'locked', locked_block = 5`)
  await note('locked')
  await set('log_lost = true')
  await note('lost')
  await set(`state = 'settled', log_lost = false, origin_final = true`)
  await note('settled')
  await set('origin_final = false, locked_block = null, delivery_final = true')
  await note('unlocked')
  await set(`state = 'refunding', origin_final = true`)
  await note('refunding')
  await set(`state = 'failed'`)
  await insertTestAttempt(pool, swap, 'lock', { sender: 'gone' })
  await note('removed key')

  expect(found).toEqual({
    nothing: [[], []],
    accepted: [['hasUnlocked'], []],
    locked: [[], []],
    lost: [[], ['hasUndelivered']],
    settled: [[], ['hasUndelivered']],
    unlocked: [['hasUnlocked', 'hasPaidUnlocked'], []],
    refunding: [['hasExits'], []],
    'removed key': [['hasAbandoned'], []],
  } satisfies Record<string, (keyof ChainWork)[][]>)
})

test('an event is work once its block is final, and until it is closed', async () => {
  const { pool } = database
  await pool.query('truncate swaps, tx_attempts, chain_events cascade')
  const event = { block: 7n, blockHash: '0xb', txHash: '0xt' }
  const events = [{ ...event, kind: 'locked' as const, id: '0xop' }]
  await storePage(pool, { chainId: ORIGIN, seconds: 1, events, gone: [], to: 7n }, async () => {})
  const before = [await workIn(ORIGIN, 6n), await workIn(ORIGIN, 7n), await workIn(DESTINATION, 7n)]
  await pool.query(`update chain_events set kind = 'recovered'`)
  const recovered = await workIn(ORIGIN, 7n)
  await pool.query('update chain_events set final = true')

  expect(before).toEqual([[], ['hasFinal'], []])
  expect(recovered).toEqual(['hasRecoveries'])
  expect(await workIn(ORIGIN, 7n)).toEqual([])
})
