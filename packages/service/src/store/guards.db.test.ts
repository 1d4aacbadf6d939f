import { beforeAll, describe, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import {
  insertTestSwap,
  lockTestSwap,
  moveTestSwap,
  settleTestSwap,
  type TestSwap,
} from '../../test/support/swaps.ts'
import { endedStates, publicStatus, type SwapState, transitions } from '../swap/lifecycle.ts'
import { settleOutcomes } from './attestations.ts'

// Rules that the database enforces for every writer.

const database = useTestDatabase()
let swap: TestSwap
const states = Object.keys(transitions) as SwapState[]

beforeAll(async () => {
  swap = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
})

const MOVE = 'update swaps set state = $2, version = version + $3, proof = $4 where id = $1'
type Move = { from: SwapState; to: SwapState; versions?: number; proof?: object | null }

/** Applies the transition directly in SQL and rolls back. Returns the error message, if any. */
async function refusalOf({ from, to, versions = 1, proof = {} }: Move): Promise<string | undefined> {
  const client = await database.pool.connect()
  try {
    await client.query("begin; set local session_replication_role = 'replica'")
    await client.query(MOVE, [swap.swapId, from, 1, null])
    await client.query("set local session_replication_role = 'origin'")
    await client.query(MOVE, [swap.swapId, to, versions, proof])
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await client.query('rollback')
    client.release()
  }
}

describe('a state written in SQL', () => {
  const isTerminal = (state: SwapState) => publicStatus(state) !== 'pending'
  const refunding: SwapState[] = ['refundDecided', 'refunding', 'refundBlocked']

  test.each(states)('cannot leave a terminal status or a decided refund: %s', async (from) => {
    for (const to of states) {
      const leaves = isTerminal(from) && publicStatus(to) !== publicStatus(from)
      const undecides = refunding.includes(from) && ![...refunding, 'refunded'].includes(to)
      const refusal = await refusalOf({ from, to })
      if (leaves || undecides) expect(refusal, `${from} to ${to}`).toMatch(/it cannot become/)
    }
  })

  test('may be any that the state table allows', async () => {
    for (const from of states)
      for (const to of Object.values(transitions[from])) expect(await refusalOf({ from, to })).toBeUndefined()
  })

  test("requires the next version, so that no worker overwrites another's change", async () => {
    for (const versions of [0, 2, -1])
      expect(await refusalOf({ from: 'locked', to: 'delivering', versions })).toMatch(/without its version/)
  })

  test('requires a proof if the swap fails or is refunded', async () => {
    expect(await refusalOf({ from: 'locking', to: 'failed', proof: null })).toMatch(/needs a proof/)
    expect(await refusalOf({ from: 'locked', to: 'refundDecided', proof: null })).toMatch(/needs a proof/)
  })
})

test('a caller who waits is told of each transition that ends a status, and of no other', async () => {
  const moves = states.flatMap((from) => Object.values(transitions[from]).map((to) => ({ from, to })))
  const told: string[] = []
  const client = await database.pool.connect()
  client.on('notification', ({ channel }) => told.push(channel))
  await client.query('listen swap_terminal')

  const ending: typeof moves = []
  for (const { from, to } of moves) {
    told.length = 0
    await client.query("begin; set local session_replication_role = 'replica'")
    await client.query(MOVE, [swap.swapId, from, 1, null])
    await client.query("set local session_replication_role = 'origin'")
    await client.query(MOVE, [swap.swapId, to, 1, {}])
    await client.query('commit')
    if (told.length > 0) ending.push({ from, to })
  }
  await client.query('unlisten swap_terminal')
  client.release()

  expect(ending).toEqual(
    moves.filter(({ from, to }) => publicStatus(from) === 'pending' && publicStatus(to) !== 'pending'),
  )
})

test('each index of open swaps holds exactly the open states', async () => {
  const { rows } = await database.pool.query<{ predicate: string }>(
    `select pg_get_expr(indpred, indrelid) as predicate from pg_index
      where indrelid = 'swaps'::regclass and pg_get_expr(indpred, indrelid) like '%state <> ALL%'`,
  )
  const left = rows.map(({ predicate }) => [...predicate.matchAll(/'(\w+)'::text/g)].map(([, name]) => name))

  expect(left).toEqual([endedStates, endedStates])
})

test('no delivery is recorded for a swap that is not locked or whose refund is decided', async () => {
  const fresh = await insertTestSwap(database.pool, swap.accountId)
  await expect(insertTestAttempt(database.pool, fresh, 'deliver')).rejects.toThrow(
    'no delivery may be signed',
  )
  await lockTestSwap(database.pool, fresh)
  await insertTestAttempt(database.pool, fresh, 'deliver')
  const decision = { refundReason: 'NO_LIQUIDITY', proof: {} } as const
  await moveTestSwap(database.pool, fresh, 'deliveryImpossible', decision)

  await expect(insertTestAttempt(database.pool, fresh, 'deliver')).rejects.toThrow(
    'no delivery may be signed',
  )
})

test('a nonce of a key is recorded once per replacement', async () => {
  const settled = await insertTestSwap(database.pool, swap.accountId)
  await settleTestSwap(database.pool, settled)
  const id = await insertTestAttempt(database.pool, settled, 'claim')
  const again = `
    insert into tx_attempts (chain_id, sender, nonce, replacement, role, tx_hash, raw, effect_hash, request)
    select chain_id, sender, nonce, $2, role, $3, raw, effect_hash, request from tx_attempts where id = $1`

  await database.pool.query(again, [id, 1, '0xdearer'])

  await expect(database.pool.query(again, [id, 0, '0xother'])).rejects.toThrow('duplicate key')
})

test('an attester signs one outcome of an op: the first', async () => {
  expect(await settleOutcomes(database.pool, 'claim', ['0xop'])).toEqual(new Set(['0xop']))
  expect(await settleOutcomes(database.pool, 'refund', ['0xop'])).toEqual(new Set())
  expect(await settleOutcomes(database.pool, 'claim', ['0xop'])).toEqual(new Set(['0xop']))
})
