import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import {
  insertEndedSwaps,
  insertTestSwap,
  moveTestSwap,
  settleTestSwap,
  type TestSwap,
} from '../../../test/support/swaps.ts'
import type { Heads } from '../../chains/chain.ts'
import type { Work } from '../../engine/sender.ts'
import { type SweepDeps, sweepMarkers } from './sweep.ts'

const CHAIN = 31_338
const MARGIN = 1_000
const lease = { name: 'deliver', holder: 'holder', fence: '1' }

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate swaps, ops, sweep_cursors, accounts cascade'))

const headsAt = (seconds: number): Heads => {
  const block = { number: 1n, height: 1n, hash: '0x1', seconds }
  return { head: block, settle: block, hard: block }
}

/** A delivered swap whose deadline was at this time; closed if its input was claimed. */
async function delivered(fillDeadline: number, { isClosed = true } = {}): Promise<string> {
  const { pool } = database
  const swap: TestSwap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  if (isClosed) {
    for (const event of ['claimRecorded', 'claimFinal'] as const) await moveTestSwap(pool, swap, event)
  }
  const { rows } = await pool.query(
    `update ops set fill_deadline = $2, destination_chain = $3 from swaps s
      where s.op_id = ops.id and s.id = $1 returning delivery_hash`,
    [swap.swapId, fillDeadline, CHAIN],
  )
  return rows[0].delivery_hash
}

/** A chain with these markers. Sent sweeps are collected. */
function chainWith(...markers: string[]) {
  const key = { room: 16 }
  const swept: string[][] = []
  const looked: string[][] = []
  const deps: SweepDeps = {
    ...{ pool: database.pool, chainId: CHAIN, marginSeconds: MARGIN },
    async findSweepable(hashes) {
      looked.push([...hashes])
      return hashes.filter((hash) => markers.includes(hash))
    },
    sender: {
      address: 'payer',
      room: () => key.room,
      async send(_lease: unknown, _heads: unknown, { request }: Work) {
        swept.push(request['markers'] as string[])
        return true
      },
    },
  }
  return { deps, key, swept, looked }
}

test('the marker of an ended swap is swept after the margin, and not before', async () => {
  const hash = await delivered(5_000)
  const { deps, swept } = chainWith(hash)

  await sweepMarkers(deps, lease, headsAt(5_000 + MARGIN))
  expect(swept).toEqual([])
  await sweepMarkers(deps, lease, headsAt(5_000 + MARGIN + 1))

  expect(swept).toEqual([[hash]])
})

test('with nothing to sweep there is time', async () => {
  await delivered(5_000)

  expect(await sweepMarkers(chainWith().deps, lease, headsAt(90_000))).toEqual({ isBusy: false })
})

test('the marker of an open swap stays: it is the proof of the delivery', async () => {
  const open = await delivered(5_000, { isClosed: false })
  const closed = await delivered(6_000)
  const { deps, swept } = chainWith(open, closed)

  await sweepMarkers(deps, lease, headsAt(90_000))

  expect(swept).toEqual([[closed]])
})

test('swept deliveries are not read again, and none behind an open swap is forgotten', async () => {
  const first = await delivered(5_000)
  const open = await delivered(6_000, { isClosed: false })
  const last = await delivered(7_000)
  const { deps, looked } = chainWith()

  await sweepMarkers(deps, lease, headsAt(90_000))
  await sweepMarkers(deps, lease, headsAt(90_000))

  expect(looked).toEqual([[first, last], [last]])
  expect(looked.flat()).not.toContain(open)
})

/** Ended swaps, more than are read at once, whose deliveries have one deadline. */
async function deliveredMany(fillDeadline: number): Promise<void> {
  const { pool } = database
  const wallets = Array.from({ length: 1_001 }, (_, index) => `wallet ${index}`)
  await insertEndedSwaps(pool, await insertTestAccount(pool), wallets)
  await pool.query(`update swaps set delivery_tx_hash = '0xdelivery' where wallet like 'wallet %'`)
  await pool.query(`update ops set fill_deadline = $1, destination_chain = $2 where wallet like 'wallet %'`, [
    fillDeadline,
    CHAIN,
  ])
}

test('many markers are swept by several transactions, by five and with half of the room at most', async () => {
  await deliveredMany(5_000)
  const { deps, key, swept } = chainWith()
  const sweep = async (count: number, room: number) => {
    let markers: string[] = []
    deps.findSweepable = async (hashes) => {
      markers = hashes.slice(0, count)
      return markers
    }
    key.room = room
    swept.splice(0)
    expect(await sweepMarkers(deps, lease, headsAt(90_000))).toEqual({ isBusy: true })
    expect(swept.flat()).toEqual(markers.slice(0, swept.flat().length))
    return swept.map(({ length }) => length)
  }

  expect(await sweep(25, 16)).toEqual([20, 5])
  expect(await sweep(101, 16)).toEqual([20, 20, 20, 20, 20])
  expect(await sweep(101, 3)).toEqual([20, 20])
})

test('more deliveries with one deadline than are read at once do not hold up later ones', async () => {
  await deliveredMany(5_000)
  const later = await delivered(6_000)
  const { deps, swept, looked } = chainWith(later)

  await sweepMarkers(deps, lease, headsAt(90_000))
  await sweepMarkers(deps, lease, headsAt(90_000))

  expect(looked.map((hashes) => hashes.length)).toEqual([1_001, 1])
  expect(swept).toEqual([[later]])
})

test('a swap that stays open does not hold up the markers of later pages, and is not passed', async () => {
  await delivered(4_000, { isClosed: false })
  await deliveredMany(5_000)
  const later = await delivered(6_000)
  const { deps, swept } = chainWith(later)
  const { next } = await sweepMarkers(deps, lease, headsAt(90_000))
  await sweepMarkers(deps, lease, headsAt(90_000), next)
  expect(swept).toEqual([[later]])

  const { deps: empty, looked } = chainWith()
  await sweepMarkers(empty, lease, headsAt(90_000), next)
  await sweepMarkers(empty, lease, headsAt(90_000))
  expect(looked.map((hashes) => hashes.length)).toEqual([1, 1_001])
})

test.each([
  ['open', '', true],
  ['final', 'final_at = now()', false],
  ['of another key', `sender = 'other'`, false],
  ['on another chain', 'chain_id = 5', false],
  ['no sweep', `role = 'deliver'`, false],
])('beside a transaction that is %s markers wait, or are swept', async (_, change, waits) => {
  const { pool } = database
  const hash = await delivered(5_000)
  const { deps, swept } = chainWith(hash)
  await pool.query(
    `truncate tx_attempts cascade;
     insert into tx_attempts (chain_id, sender, nonce, role, tx_hash, raw, effect_hash, request)
     values (31338, 'payer', 0, 'sweep', '0x', '0x', '0x', '{}')`,
  )
  if (change) await pool.query(`update tx_attempts set ${change}`)

  expect((await sweepMarkers(deps, lease, headsAt(90_000))).isBusy).toBe(true)

  expect(swept).toEqual(waits ? [] : [[hash]])
})
