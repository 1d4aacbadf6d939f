import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertEndedSwaps } from '../../../test/support/swaps.ts'
import type { Heads, Held, OriginWays } from '../../chains/chain.ts'
import type { Work } from '../../engine/sender.ts'
import { type RecoverDeps, recoverDeposits } from './recover-deposits.ts'

const CHAIN = 31_337
const NOW = 100_000
const lease = { name: 'relay', holder: 'holder', fence: '1' }
const block = { number: 1n, height: 1n, hash: '0x1', seconds: NOW }
const heads: Heads = { head: block, settle: block, hard: block }

const database = useTestDatabase()

/** Ended swaps by deposit with deadlines one second apart; the op of the last. */
async function insertPast(count: number): Promise<{ swapId: string; hash: string }> {
  const { pool } = database
  const wallets = Array.from({ length: count }, (_, index) => `${index}`)
  await insertEndedSwaps(pool, await insertTestAccount(pool), wallets)
  await pool.query(`update ops set method = 'deposit', op_deadline = $1 + wallet::int`, [NOW - 5_000])
  const { rows } = await pool.query(
    `select s.id as "swapId", o.hash from ops o join swaps s on s.op_id = o.id where o.wallet = $1`,
    [wallets.at(-1)],
  )
  return rows[0]
}

test('a deposit for the newest op is sent back, although older ones cannot be read', async () => {
  const newest = await insertPast(203)
  const silent = new Error('no node answers')
  const faults: unknown[] = []
  const held: Held = { token: 'usdc', amount: 5n }
  const sent: string[][] = []
  const deps: RecoverDeps = {
    ...{ pool: database.pool, chainId: CHAIN, tokens: ['usdc'], refreshPrices: async () => {} },
    ways: {
      async readDeposits(ops) {
        if (ops.length === 200) throw silent
        return new Map(ops.map(({ hash }) => [hash, hash === newest.hash ? [held] : []]))
      },
      planRecover: async () => ({ kind: 'recover' }),
      wouldRecover: async () => true,
    } as Pick<OriginWays, 'readDeposits' | 'planRecover' | 'wouldRecover'> as OriginWays,
    sender: {
      room: () => 1,
      async send(_lease: unknown, _heads: unknown, { swapIds }: Work) {
        sent.push([...swapIds])
        return true
      },
    } as RecoverDeps['sender'],
    isWorth: () => true,
    mostReturns: () => 100n,
  }

  const after = await recoverDeposits(deps, lease, heads, undefined, faults)
  const end = await recoverDeposits(deps, lease, heads, after, faults)

  expect(sent).toEqual([[newest.swapId]])
  expect(end).toBeUndefined()
  expect(faults).toEqual([silent])
})
