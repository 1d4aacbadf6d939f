import { beforeAll, beforeEach, expect, test } from 'vitest'
import { storeTestEvents } from '../../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, lockTestSwap, moveTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import { markOriginFinal } from '../../store/exposure.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { Op } from '../../swap/swap.ts'
import { type ConfirmDeliveryDeps, confirmDeliveries } from './confirm-delivery.ts'
import { type DeliverDeps, deliverLocked } from './deliver.ts'

const database = useTestDatabase()
let lease: Lease

beforeAll(async () => {
  lease = await holdTestLane(database, 'deliver')
})
beforeEach(() => database.pool.query('truncate swaps, ops cascade'))

const block: Block = { number: 20n, height: 20n, hash: '0x20', seconds: 0 }
const heads: Heads = { head: block, settle: block, hard: block }
const rules = { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 0, hard: 4, hardSeconds: 0 }
const trap = new Error('Unexpected failure')

/** Inserts locked swaps; the simulation of the first one fails. */
async function insertLocked(): Promise<TestSwap[]> {
  const account = await insertTestAccount(database.pool)
  const locked: TestSwap[] = []
  for (const wallet of ['trap', 'b', 'c']) {
    const swap = await insertTestSwap(database.pool, account, wallet)
    await lockTestSwap(database.pool, swap)
    locked.push(swap)
  }
  return locked
}

const idsOf = (swaps: readonly TestSwap[]) => swaps.map(({ swapId }) => swapId)

const statesOf = async (swaps: readonly TestSwap[]) => {
  const found = new Map((await findSwaps(database.pool, idsOf(swaps))).map(({ id, state }) => [id, state]))
  return idsOf(swaps).map((id) => found.get(id))
}

/** The database refuses to move this swap's wallet there. */
async function refuse(wallet: string, state: string): Promise<() => Promise<unknown>> {
  await database.pool.query(
    `alter table swaps add constraint odd check (wallet <> '${wallet}' or state <> '${state}')`,
  )
  return () => database.pool.query('alter table swaps drop constraint odd')
}

/** Gas costs more than 1 now. */
const affords = async (_heads: Heads, feeBound: bigint) => feeBound !== 1n

/** A key that delivers everything; the simulation of the first swap fails if `hasTrap`. */
function createDeliverer({ capCents = 0n, hasTrap = false } = {}) {
  const paid: string[] = []
  const deps = stub<DeliverDeps>({
    pool: database.pool,
    sender: {
      address: 'deliverer',
      room: () => 16,
      affords,
      termsAt: async () => ({}),
      send: async (_lease: unknown, _heads: unknown, { swapIds }: { swapIds: readonly string[] }) =>
        paid.push(...swapIds) > 0,
    },
    share: () => ({ index: 0, of: 1 }),
    isVerified: () => true,
    isPayable: async () => true,
    destination: {
      chainId: 31338,
      maxBatch: 20,
      planDelivery: async () => ({}),
      simulateDelivery: async ({ wallet }: Op) => {
        if (hasTrap && wallet === 'trap') throw trap
        return { kind: 'ok' }
      },
    },
    isLive: () => true,
    downSeconds: () => 0,
    isPriceKept: () => true,
    refreshPrices: async () => {},
    cutOffSeconds: 0,
    patienceSeconds: 60,
    isClaimable: () => true,
    isLate: () => false,
    capsOf: () => ({ exposedCents: capCents, unclaimedCents: 1_000_000n }),
    hardSecondsOf: () => 60,
  })
  return { deps, paid }
}

test('a swap that cannot be judged is reported, and the other locked swaps are delivered', async () => {
  const swaps = await insertLocked()
  const { deps, paid } = createDeliverer({ hasTrap: true })

  await expect(deliverLocked(deps, lease, heads)).rejects.toBe(trap)

  expect(paid).toEqual(idsOf(swaps.slice(1)))
})

test('a swap above the exposure cap is not signed for, and does not block final ones', async () => {
  const [first, , final] = idsOf(await insertLocked())
  await database.pool.query('update ops set value_cents = 100')
  await markOriginFinal(database.pool, await findSwaps(database.pool, [final ?? '']))
  const { deps, paid } = createDeliverer({ capCents: 100n })

  await deliverLocked(deps, lease, heads)

  expect(paid).toEqual([first, final])
})

test('a swap above its fee bound waits, and the others are delivered', async () => {
  const [first, dear, last] = idsOf(await insertLocked())
  await database.pool.query(
    'update ops set delivery_fee_bound = 1 from swaps s where s.op_id = ops.id and s.id = $1',
    [dear],
  )
  const { deps, paid } = createDeliverer()

  await deliverLocked(deps, lease, heads)

  expect(paid).toEqual([first, last])
})

test('a delivery that cannot be recorded is reported, and the others of its chain are settled', async () => {
  const swaps = await insertLocked()
  for (const swap of swaps)
    await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  const moved: string[] = []
  const permit = await refuse('trap', 'settled')
  const deps = stub<ConfirmDeliveryDeps>({
    pool: database.pool,
    rules,
    finalitySeconds: () => undefined,
    moves: createMoves(database.pool, ({ id }) => moved.push(id)),
    destination: { chainId: 31338, isDeliveryOver: () => false },
  })
  await storeTestEvents(database.pool, 31338, 'delivered', await findSwaps(database.pool, idsOf(swaps)))

  await expect(confirmDeliveries(deps, lease, heads)).rejects.toThrow('odd')

  expect(await statesOf(swaps)).toEqual(['delivering', 'settled', 'settled'])
  expect(moved.sort()).toEqual(idsOf(swaps.slice(1)).sort())
  await permit()
  await confirmDeliveries(deps, lease, heads)
  expect(await statesOf(swaps)).toEqual(['settled', 'settled', 'settled'])
})

test('a swap whose delivery cannot be read is reported and kept; others past their deadline are refunded', async () => {
  const swaps = await insertLocked()
  for (const swap of swaps)
    await moveTestSwap(database.pool, swap, 'deliveryRecorded', { deliveryTxHash: '0xdelivery' })
  await markOriginFinal(database.pool, await findSwaps(database.pool, idsOf(swaps)))
  const deps = stub<ConfirmDeliveryDeps>({
    pool: database.pool,
    rules,
    moves: createMoves(database.pool, () => {}),
    destination: {
      chainId: 31338,
      isDeliveryOver: () => true,
      async readUndelivered(ops: readonly Op[], _at: Block, faults: unknown[]) {
        faults.push(trap)
        return new Set(ops.filter(({ wallet }) => wallet !== 'trap').map(({ hash }) => hash))
      },
    },
  })

  await expect(confirmDeliveries(deps, lease, heads)).rejects.toBe(trap)

  expect(await statesOf(swaps)).toEqual(['delivering', 'refundDecided', 'refundDecided'])
})
