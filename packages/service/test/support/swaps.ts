import { randomBytes, randomUUID } from 'node:crypto'
import type { StatusReply } from '@geoswap/wire'
import type { Pool } from 'pg'
import type { Db } from '../../src/store/db.ts'
import { readStatuses } from '../../src/store/statuses.ts'
import { insertSwap } from '../../src/store/submissions.ts'
import { advanceSwap, type Change } from '../../src/store/swap-moves.ts'
import { findSwaps } from '../../src/store/swaps.ts'
import type { SwapEvent } from '../../src/swap/lifecycle.ts'
import type { AnyFacts, Swap } from '../../src/swap/swap.ts'

export type TestSwap = { swapId: string; accountId: string }

const insertOps = (way?: { column: string; value: string }) => `
  insert into ops (id, quote_id, account_id, hash, delivery_hash, terms, origin_chain, destination_chain, wallet,
                   input_token, input_amount, output_token, quoted_output, min_output, swappable, price_floor,
                   recipient, locker, position, round, op_deadline, fill_deadline, refund_deadline, wallet_balance,
                   wallet_block, value_cents, origin_block, destination_block, venue, pay_token, pay_amount, expires_at
                   ${way ? `, ${way.column}` : ''})
  select id::uuid, id, $2, id, id, '{}', 31337, 31338, wallet, 'input', 1000, 'output', 990, 980, 1, 1, 'recipient',
         'locker', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'inventory', 'output', 990, now() + interval '1 hour'
         ${way ? `, '${way.value}'` : ''}
    from unnest($1::text[], $3::text[]) as o (id, wallet)`

const INSERT_OPS = insertOps({ column: 'method', value: 'delegation' })

/** Inserts an op as a build did before ops named their way in. Op and delivery have one hash, as on Solana. */
export async function insertOlderTestOp(pool: Pool, accountId: string): Promise<string> {
  const opId = randomUUID()
  await pool.query(insertOps(), [[opId], accountId, ['wallet']])
  return opId
}

/** Inserts an op of this account, as a build does. */
export async function insertTestOp(pool: Pool, accountId: string, wallet = 'wallet'): Promise<string> {
  const opId = randomUUID()
  await pool.query(INSERT_OPS, [[opId], accountId, [wallet]])
  return opId
}

/** Inserts an accepted swap of this account, as a submission does. */
export async function insertTestSwap(pool: Pool, accountId: string, wallet = 'wallet'): Promise<TestSwap> {
  const opId = await insertTestOp(pool, accountId, wallet)
  const swapId = `swp_${randomBytes(16).toString('hex')}`
  await insertSwap(pool, { swapId, opId, signature: '0x' })
  return { swapId, accountId }
}

/** Inserts swaps that ended long ago, one per wallet. */
export async function insertEndedSwaps(
  pool: Pool,
  accountId: string,
  wallets: readonly string[],
): Promise<void> {
  const opIds = wallets.map(() => randomUUID())
  await pool.query(INSERT_OPS, [opIds, accountId, wallets])
  await pool.query(
    `insert into swaps (id, op_id, quote_id, account_id, state, origin_chain, destination_chain, wallet, input_token,
                        input_amount, locker, signature)
     select 'swp_' || quote_id, id, quote_id, account_id, 'closed', origin_chain, destination_chain, wallet,
            input_token, input_amount, locker, '0x' from ops where id = any($1::uuid[])`,
    [opIds],
  )
}

/** Applies an event to a swap, as a worker does, with the facts that the test is about. */
export async function moveTestSwap(
  db: Db,
  { swapId }: TestSwap,
  event: SwapEvent,
  facts: Omit<AnyFacts, 'proof'> & { proof?: object } = {},
): Promise<Swap> {
  const [swap] = await findSwaps(db, [swapId])
  const moved = swap && (await advanceSwap(db, { swap, event, ...facts } as Change))
  if (!moved) throw new Error(`The swap does not accept ${event}`)
  return moved
}

/** Moves a new swap to `locked`. */
export async function lockTestSwap(db: Db, swap: TestSwap): Promise<void> {
  await moveTestSwap(db, swap, 'lockRecorded')
  await moveTestSwap(db, swap, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
}

/** Moves a swap to `settled`. */
export async function settleTestSwap(db: Db, swap: TestSwap): Promise<void> {
  await lockTestSwap(db, swap)
  await moveTestSwap(db, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await moveTestSwap(db, swap, 'deliverySeen', { deliveryTxHash: '0xdelivery', delivered: 990n })
}

export async function statusOfTestSwap(db: Db, swap: TestSwap): Promise<StatusReply> {
  const [status] = await readStatuses(db, [swap])
  if (!status) throw new Error('Swap not found')
  return status
}
