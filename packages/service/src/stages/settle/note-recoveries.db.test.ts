import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestOp } from '../../../test/support/swaps.ts'
import type { ChainEvent } from '../../chains/chain.ts'
import { findFinalEvents } from '../../store/chain-events.ts'
import { storeRecoveries } from '../../store/deposits.ts'
import { insertSwap } from '../../store/submissions.ts'
import { findSwaps } from '../../store/swaps.ts'
import { toRecoveryId } from '../../swap/deposit.ts'
import { noteRecoveries } from './recover-deposits.ts'

const CHAIN = 31_337

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate chain_events, swaps, ops cascade'))

/** A swap of an op that takes its input in this way. */
async function insert(method: string) {
  const { pool } = database
  const opId = await insertTestOp(pool, await insertTestAccount(pool))
  await pool.query('update ops set method = $2 where id = $1', [opId, method])
  await insertSwap(pool, { swapId: `swp_${opId}`, opId, signature: '' })
  const [swap] = await findSwaps(pool, [`swp_${opId}`])
  return swap ?? expect.unreachable()
}

const back = (op: string, txHash: string, amount = 7n, block = 20n): ChainEvent => ({
  ...{
    kind: 'recovered',
    id: toRecoveryId({ op, token: '0xt', txHash }),
    txHash,
    block,
    blockHash: '0x20',
    amount,
  },
})

/** Stores these events and applies those up to this block. */
async function note(events: ChainEvent[], hard = 20n) {
  const { pool } = database
  const faults: unknown[] = []
  await storeRecoveries(pool, { chainId: CHAIN, seconds: 0, events })
  await noteRecoveries({ pool, chainId: CHAIN }, { hard: { number: hard } as never }, faults)
  expect(faults).toEqual([])
}

const stored = async () =>
  (await database.pool.query('select final from chain_events')).rows.map(({ final }) => final)

test('a return from the address of an op is told once, when it is final', async () => {
  const { id, op } = await insert('deposit')

  await note([back(op.hash, '0x1')], 19n)
  expect((await findSwaps(database.pool, [id]))[0]?.deposit).toBeUndefined()
  await note([back(op.hash, '0x1'), back(op.hash, '0x2', 8n)])
  await note([back(op.hash, '0x1')])

  expect((await findSwaps(database.pool, [id]))[0]?.deposit).toEqual({
    returned: [
      { token: '0xt', amount: '7', txHash: '0x1' },
      { token: '0xt', amount: '8', txHash: '0x2' },
    ],
  })
  expect(await stored()).toEqual([true, true])
})

test('nobody can write into an op that takes no deposit', async () => {
  const { id, op } = await insert('permit')

  await note([back(op.hash, '0x1'), back('unknown', '0x2')])

  expect((await findSwaps(database.pool, [id]))[0]?.deposit).toBeUndefined()
  expect(await stored()).toEqual([])
})

test('recoveries are no part of the events that move swaps', async () => {
  const { op } = await insert('deposit')

  await storeRecoveries(database.pool, { chainId: CHAIN, seconds: 0, events: [back(op.hash, '0x1')] })

  expect(await findFinalEvents(database.pool, { chainId: CHAIN, hard: 20n, limit: 10 })).toEqual([])
})
