import { beforeAll, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { holdTestLane } from '../../../test/support/lanes.ts'
import { stub } from '../../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap } from '../../../test/support/swaps.ts'
import type { Block, Heads, LockState, OriginChain } from '../../chains/chain.ts'
import { createMoves } from '../../engine/advance.ts'
import type { Lease } from '../../store/lanes.ts'
import { findSwaps } from '../../store/swaps.ts'
import type { SwapState } from '../../swap/lifecycle.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { decideRefund } from './judge.ts'

const database = useTestDatabase()
let lease: Lease
beforeAll(async () => {
  lease = await holdTestLane(database, 'deliver')
})

type Reached = Extract<SwapState, 'locking' | 'locked' | 'delivering' | 'settled'>

/** A swap in this state, with a final or a soft input. */
async function swapIn(state: Reached, originFinal: boolean): Promise<Swap> {
  const { pool } = database
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await moveTestSwap(pool, swap, 'lockRecorded')
  const steps = ['lockSeen', 'deliveryRecorded', 'deliverySeen'] as const
  const count = ['locking', 'locked', 'delivering', 'settled'].indexOf(state)
  for (const step of steps.slice(0, count)) await moveTestSwap(pool, swap, step)
  await pool.query('update swaps set origin_final = $2 where id = $1', [swap.swapId, originFinal])
  return find(swap.swapId)
}

async function find(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  if (!swap) throw new Error('Swap not found')
  return swap
}

type Origin = { lock: LockState | undefined; isOver: boolean }

/** Decides a refund while block 9, final on the origin, shows this lock; returns the swap's state and the reports. */
async function decide(swap: Swap, { lock, isOver }: Origin = { lock: 'locked', isOver: true }) {
  const blockAt = (number: bigint): Block => ({ number, height: number, hash: '0x', seconds: 0 })
  const heads: Heads = { head: blockAt(12n), settle: blockAt(11n), hard: blockAt(9n) }
  const origin = {
    readHeads: async () => heads,
    readLocks: async ([op]: readonly Op[], at: Block) =>
      new Map(lock && op && at.number === 9n ? [[op.hash, lock]] : []),
    isLockOver: (_swap: Swap, at: Block) => isOver && at.number === 9n,
  }
  const reported: string[] = []
  await decideRefund(
    {
      originOf: () => stub<OriginChain>(origin),
      moves: createMoves(database.pool, ({ state, refundReason }, { event }) =>
        reported.push(`${state} ${refundReason ?? event}`),
      ),
    },
    lease,
    swap,
    { refundReason: 'PRICE_MOVED', proof: { kind: 'neverSigned', chainId: 1, block: undefined } },
  )
  return { state: (await find(swap.id)).state, reported }
}

const decided = { state: 'refundDecided', reported: ['refundDecided PRICE_MOVED'] }

test.each<[Reached, boolean, object]>([
  ['locking', false, { state: 'locking', reported: [] }],
  ['locking', true, { state: 'locking', reported: [] }],
  ['locked', false, { state: 'locked', reported: [] }],
  ['locked', true, decided],
  ['delivering', false, { state: 'delivering', reported: [] }],
  ['delivering', true, decided],
  ['settled', false, { state: 'settled', reported: [] }],
  ['settled', true, { state: 'settled', reported: [] }],
])(
  'a refund decided for a swap that is %s, with a final input: %s, leads to %o',
  async (state, isFinal, end) => {
    expect(await decide(await swapIn(state, isFinal))).toEqual(end)
  },
)

test.each<[string, Origin, SwapState]>([
  ['was never taken and can no longer be', { lock: 'none', isOver: true }, 'failed'],
  ['was not taken and still can be', { lock: 'none', isOver: false }, 'delivering'],
  ['is locked', { lock: 'locked', isOver: true }, 'delivering'],
  ['went back', { lock: 'refunded', isOver: true }, 'delivering'],
  ['cannot be read', { lock: undefined, isOver: true }, 'delivering'],
])('a swap whose input is not final and %s', async (_, origin, state) => {
  const swap = await swapIn('delivering', false)

  const reported = state === 'failed' ? ['failed lockDead'] : []
  expect(await decide(swap, origin)).toEqual({ state, reported })
})

test.each<Reached>(['locking', 'locked'])(
  'a swap that is %s fails by no decision about its delivery',
  async (state) => {
    const swap = await swapIn(state, false)

    expect(await decide(swap, { lock: 'none', isOver: true })).toEqual({ state, reported: [] })
  },
)

test('a swap that moved on meanwhile is left alone, and nothing is reported', async () => {
  const swap = await swapIn('delivering', true)
  await moveTestSwap(database.pool, { swapId: swap.id, accountId: '' }, 'deliverySeen')

  expect(await decide(swap)).toEqual({ state: 'settled', reported: [] })
})
