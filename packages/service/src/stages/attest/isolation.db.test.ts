import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, settleTestSwap, type TestSwap } from '../../../test/support/swaps.ts'
import type { Chain, Delivered, LockRef, LockState, PaidOp } from '../../chains/chain.ts'
import { insertAttestation } from '../../store/attestations.ts'
import type { Op } from '../../swap/swap.ts'
import { type AttestDeps, attestAll } from './attest.ts'

const database = useTestDatabase()
beforeEach(() => database.pool.query('delete from attestations; delete from swaps; delete from ops'))

const at = { number: 9n, height: 9n, hash: '0x', seconds: 0 }
const trap = new Error('unreadable op')

/** Finally delivered swaps whose claims are proposed, one by one. */
async function insertDelivered(wallets: readonly string[]): Promise<TestSwap[]> {
  const { pool } = database
  const account = await insertTestAccount(pool)
  const swaps: TestSwap[] = []
  for (const wallet of wallets) {
    const swap = await insertTestSwap(pool, account, wallet)
    await settleTestSwap(pool, swap)
    swaps.push(swap)
    await insertAttestation(pool, { chainId: 31_337, kind: 'claim', swapIds: [swap.swapId] })
  }
  await pool.query('update swaps set origin_final = true, delivery_final = true')
  return swaps
}

const chain = {
  maxBatch: 20,
  readMaxClaims: async () => 20,
  readHeads: async () => ({ head: at, settle: at, hard: at }),
  readAttesters: async () => ({ members: ['mine'], threshold: 1 }),
  readLocks: async (ops: readonly LockRef[]) =>
    new Map(ops.map(({ hash }): [string, LockState] => [hash, 'locked'])),
  findDeliveries: async (paid: readonly PaidOp[]) =>
    new Map(paid.map(({ op }): [string, Delivered] => [op.hash, { txHash: '0x', amount: 990n, block: 1n }])),
}

/** Omits the trap, as a chain does with an op that cannot be read. */
function without<Item, Answer>(read: (items: readonly Item[]) => Promise<Answer>, opOf: (item: Item) => Op) {
  return (items: readonly Item[], _at: unknown, faults?: unknown[]) => {
    const readable = items.filter((item) => opOf(item).wallet !== 'trap')
    if (readable.length < items.length) faults?.push(trap)
    return read(readable)
  }
}

const silence: Partial<Chain> = { readHeads: () => Promise.reject(trap) }

/** Runs one sweep. One chain may have a view of its own. Returns the claimed swaps and the error. */
async function attest(
  view: Partial<Chain>,
  silent?: number,
  ofSilent = silence,
  isVerified = true,
): Promise<{ claimed: string[]; fault: unknown }> {
  const claimed: string[] = []
  const deps = {
    pool: database.pool,
    isRefundable: async () => true,
    chains: {
      of: (chainId: number) => ({
        chain: { ...chain, ...view, ...(chainId === silent && ofSilent) },
        gate: { isOpen: isVerified },
        attestations: { sign: async () => '0x' },
      }),
    },
    signers: ['mine'],
    events: {
      onAttested: (_kind: string, swapIds: readonly string[]) => claimed.push(...swapIds),
      onRefused() {},
      onPostponed() {},
    },
  }
  const fault = await attestAll(stub<AttestDeps>(deps)).catch((error: unknown) => error)
  return { claimed: claimed.sort(), fault }
}

test.each([
  ['delivery', { findDeliveries: without(chain.findDeliveries, ({ op }) => op) }],
  ['input', { readLocks: without(chain.readLocks, (ref) => ref as Op) }],
])(
  'a swap whose %s cannot be read is not claimed but reported, and the others are claimed',
  async (_, view) => {
    const [, ...others] = await insertDelivered(['trap', 'b', 'c'])

    const { claimed, fault } = await attest(view)

    expect(claimed).toEqual(others.map(({ swapId }) => swapId).sort())
    expect(fault).toBe(trap)
  },
)

/** As many proposals of this swap as one sweep takes. */
async function crowd({ swapId }: TestSwap, kind: 'claim' | 'refund'): Promise<void> {
  const { pool } = database
  await pool.query('update swaps set origin_chain = 5 where id = $1', [swapId])
  for (let count = 0; count < 100; count += 1)
    await insertAttestation(pool, { chainId: 5, kind, swapIds: [swapId], validUntil: 60 })
}

test('a crowd of outcomes whose attesters cannot be read holds up no other', async () => {
  const [held] = await insertDelivered(['a'])
  await crowd(held as TestSwap, 'claim')
  const [other] = await insertDelivered(['b'])
  const view = { readAttesters: () => Promise.reject(trap) }

  const sweeps = [await attest({}, 5, view), await attest({}, 5, view)]

  expect(sweeps.map(({ fault }) => fault)).toEqual([trap, trap])
  expect(sweeps[1]?.claimed).toContain(other?.swapId)
})

test('a crowd of refunds that cannot be judged holds up no claim', async () => {
  const { pool } = database
  const refund = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, refund, 'lockRecorded')
  await moveTestSwap(pool, refund, 'lockSeen', { originTxHash: '0xlock', lockedBlock: 1n })
  await pool.query('update swaps set origin_final = true')
  const proof = { kind: 'neverSigned' }
  await moveTestSwap(pool, refund, 'deliveryImpossible', { refundReason: 'DELIVERY_EXPIRED', proof })
  await crowd(refund, 'refund')
  const [other] = await insertDelivered(['b'])

  const sweeps = [await attest({}, undefined, {}, false), await attest({}, undefined, {}, false)]

  expect(String(sweeps[0]?.fault)).toContain('was not verified yet')
  expect(sweeps[1]?.claimed).toEqual([other?.swapId])
})

test('an unreachable chain delays only its own swaps', async () => {
  const [held, other] = await insertDelivered(['a', 'b'])
  await database.pool.query('update swaps set origin_chain = 5 where id = $1', [held?.swapId])

  const { claimed, fault } = await attest({}, 5)

  expect(claimed).toEqual([other?.swapId])
  expect(fault).toBe(trap)
})
