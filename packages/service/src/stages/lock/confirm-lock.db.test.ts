import { expect, test } from 'vitest'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockRef, LockState } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { findFinalEvents } from '../../store/chain-events.ts'
import { bookDelivery, findLostInputs, markOriginFinal, writeOffInput } from '../../store/exposure.ts'
import { readExposure } from '../../store/figures.ts'
import { readStatuses } from '../../store/statuses.ts'
import { findSwaps, findToPropose, markDeliveriesFinal } from '../../store/swaps.ts'
import { type ConfirmLockDeps, confirmLocks } from './confirm-lock.ts'
import { finalizeOrigin } from './finalize-origin.ts'

const CHAIN = 31_337
const VALUE = 601n

const database = useTestDatabase()

const block: Block = { number: 20n, height: 20n, hash: '0x14', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }

/** A watch of a chain past every deadline, on which every input is in this state. */
function watcher(state: LockState = 'none'): ConfirmLockDeps {
  const readLocks = async (ops: readonly LockRef[]) => new Map(ops.map(({ hash }) => [hash, state]))
  const origin = { chainId: CHAIN, readLocks, isLockOver: () => true }
  const rules = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: 4, hardSeconds: 4 }
  const moves = createMoves(database.pool, () => {})
  return { pool: database.pool, origin, rules, moves } as unknown as ConfirmLockDeps
}

const proofOf = async (swapId: string) =>
  (await database.pool.query('select proof from swaps where id = $1', [swapId])).rows[0].proof

test('a paid swap that can never be locked is closed, and its value is exposed until it is written off', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update ops set value_cents = $1', [VALUE.toString()])
  await bookDelivery(pool, {
    chainId: CHAIN,
    swaps: await findSwaps(pool, [swap.swapId]),
    caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
  })
  await markDeliveriesFinal(pool, [{ id: swap.swapId, deliveryTxHash: '0xdelivery' }])
  // A reorg undid the lock.
  await pool.query('update swaps set locked_block = null')

  await confirmLocks(watcher(), heads)

  const [closed] = await findSwaps(pool, [swap.swapId])
  expect(closed).toMatchObject({ state: 'closed', originFinal: false })
  expect(await proofOf(swap.swapId)).toMatchObject({ kind: 'notLockedPastDeadline', chainId: CHAIN })
  expect(await findLostInputs(pool)).toMatchObject([{ swapId: swap.swapId, chainId: CHAIN, cents: VALUE }])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: VALUE, lostCents: VALUE }])

  const elsewhere = CHAIN + 1
  await pool.query('insert into exposure (chain_id, cents, unclaimed_cents) values ($1, 7, 7)', [elsewhere])
  const loss = { swapId: swap.swapId, note: 'reorg of four blocks' }
  expect([await writeOffInput(pool, loss), await writeOffInput(pool, loss)]).toEqual([true, false])
  const { rows } = await pool.query('delete from exposure where chain_id = $1 returning cents', [elsewhere])
  expect(rows).toEqual([{ cents: '7' }])
  expect(await findLostInputs(pool)).toEqual([])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})

test('a swap whose input was refunded after the delivery is closed, and its value counts as lost', async () => {
  const { pool } = database
  const { swapId, accountId } = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, { swapId, accountId })
  await pool.query('update ops set value_cents = $1', [VALUE.toString()])
  const swaps = await findSwaps(pool, [swapId])
  await bookDelivery(pool, {
    chainId: CHAIN,
    swaps,
    caps: { exposedCents: 10_000n, unclaimedCents: 10_000n },
  })
  await markOriginFinal(pool, swaps)
  await markDeliveriesFinal(pool, [{ id: swapId, deliveryTxHash: '0xdelivery' }])

  await storeTestEvents(pool, CHAIN, 'refunded', swaps)
  const events = await findFinalEvents(pool, { chainId: CHAIN, hard: 20n, limit: 10 })
  await finalizeOrigin(watcher('refunded'), heads, events, [])

  expect(await findSwaps(pool, [swapId])).toMatchObject([{ state: 'closed', originFinal: true }])
  expect(await proofOf(swapId)).toMatchObject({ kind: 'refundedAfterDelivery', chainId: CHAIN })
  expect(await findToPropose(pool, { kind: 'claim', chainId: CHAIN })).toEqual([])
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: VALUE, lostCents: VALUE }])

  await writeOffInput(pool, { swapId, note: 'the attester was down' })
  expect(await readExposure(pool)).toMatchObject([{ chainId: CHAIN, cents: 0n, lostCents: 0n }])
})

test('the status of a swap whose lock came too late says why it waits, and until when', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  await storeTestEvents(pool, CHAIN, 'locked', await findSwaps(pool, [swap.swapId]))
  const { rows } = await pool.query('update chain_events set seen_at = 997 returning block')
  await pool.query('update ops set op_deadline = 1000 where id = (select op_id from swaps where id = $1)', [
    swap.swapId,
  ])
  const statusAt = async (hard: bigint) => {
    await confirmLocks(watcher('locked'), { ...heads, hard: { ...block, number: hard } })
    return (await readStatuses(pool, [swap]))[0]
  }
  const locked = BigInt(rows[0].block)

  const waiting = { reason: 'lateLock', until: new Date(1_001_000).toISOString() }
  expect(await statusAt(locked - 1n)).toMatchObject({ substatus: 'locking', waiting })
  const final = await statusAt(locked)
  expect([final?.substatus, final?.waiting]).toEqual(['locked', undefined])
})
