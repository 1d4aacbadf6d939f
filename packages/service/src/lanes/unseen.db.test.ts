import { afterEach, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Chain, Heads, TxRequest } from '../chains/chain.ts'
import type { Attempt } from '../store/attempts.ts'
import { createSender } from './sender.ts'

const database = useTestDatabase()
afterEach(() => vi.restoreAllMocks())

/** Blocks of two seconds; nothing becomes final. */
const headAt = (block: number) =>
  ({
    head: { number: BigInt(block), hash: `0x${block}`, seconds: block * 2 },
    settle: { number: BigInt(block) },
    hard: { number: 1n, hash: '0xhard' },
  }) as Heads

/** A key that has sent nothing yet, on a chain that counts how often it is asked. */
async function newKey({ refusal, hasNonces = true }: { refusal?: string; hasNonces?: boolean } = {}) {
  const { pool } = database
  let readings = 0
  const chain = {
    ...{ chainId: 31_337, hasNonces, offerReplacements: () => undefined },
    ...{ fits: () => true, readTerms: async () => ({}), broadcast: async () => refusal },
    sign: async () => ({ raw: '0x', txHash: crypto.randomUUID() }),
    readOutcomes: async (_: string, open: Attempt[]) => {
      readings += 1
      return { final: [], consumed: [], unmined: open, nextNonce: 0 }
    },
  } as unknown as Chain
  const address = `key ${crypto.randomUUID()}`
  const silent = { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} }
  const sender = createSender({ pool, chain, address, maxInFlight: 64, isClaimable: () => true, ...silent })
  const lease = await holdTestLane(database, address)
  await sender.followUp(lease, headAt(100))
  readings = 0

  return {
    room: sender.room,
    /** Sends the lock of a new swap at block 100. */
    async lock(): Promise<{ swap: TestSwap; storeEvent(): Promise<unknown> }> {
      const swap = await insertTestSwap(pool, await insertTestAccount(pool))
      const { swapId } = swap
      const record = async () => true
      await sender.send(lease, headAt(100), {
        role: 'lock',
        request: {} as TxRequest,
        swapIds: [swapId],
        record,
      })
      const storeEvent = () =>
        pool.query(
          `insert into chain_events (chain_id, kind, id, block, block_hash, tx_hash, seen_at)
           select a.chain_id, 'locked', o.hash, 101, '0x101', a.tx_hash, 0
             from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
             join swaps s on s.id = l.swap_id join ops o on o.id = s.op_id where l.swap_id = $1`,
          [swapId],
        )
      return { swap, storeEvent }
    },
    /** Stores how far the chain was scanned for events. */
    scanTo: (block: number) =>
      pool.query(
        `insert into chain_cursors (chain_id, scanned_to) values (31337, $1)
         on conflict (chain_id) do update set scanned_to = excluded.scanned_to`,
        [block],
      ),
    async readingsAt(block: number): Promise<number> {
      await sender.followUp(lease, headAt(block))
      return readings
    },
  }
}

test('the chain is not asked about a transaction whose event is stored, which is no longer in flight', async () => {
  const key = await newKey()
  const { storeEvent } = await key.lock()
  const before = [key.room(), await key.readingsAt(101)]
  await storeEvent()

  expect([...before, await key.readingsAt(102), key.room()]).toEqual([63, 0, 0, 64])
})

test('the chain is asked two blocks later about a transaction without an event: it may have failed', async () => {
  const key = await newKey()
  const { storeEvent } = await key.lock()
  await key.lock()
  await storeEvent()
  await key.scanTo(101)
  const early = [await key.readingsAt(101), await key.readingsAt(102)]
  await key.scanTo(102)

  expect([...early, await key.readingsAt(102)]).toEqual([0, 0, 1])
})

test('the chain is asked four blocks later even if nothing was scanned', async () => {
  const key = await newKey()
  await key.scanTo(99)
  await key.lock()

  expect([await key.readingsAt(103), await key.readingsAt(104)]).toEqual([0, 1])
})

test('the chain is asked at once about a transaction that nodes refuse', async () => {
  const key = await newKey({ refusal: 'underpriced' })
  await key.lock()

  expect(await key.readingsAt(101)).toBe(1)
})

test('the chain is asked about twenty transactions with events, which it then records as included', async () => {
  const key = await newKey()
  for (let count = 0; count < 20; count += 1) await (await key.lock()).storeEvent()

  expect(await key.readingsAt(101)).toBe(1)
})

test('a chain without nonces is not asked about them: it records nothing before it is final', async () => {
  const key = await newKey({ hasNonces: false })
  for (let count = 0; count < 20; count += 1) await (await key.lock()).storeEvent()

  expect(await key.readingsAt(101)).toBe(0)
})

test('an unwanted transaction does not wait for the next block, which may never come', async () => {
  const key = await newKey()
  const { swap } = await key.lock()
  await moveTestSwap(database.pool, swap, 'declined', { failureCode: 'OPERATION_EXPIRED', proof: {} })
  const later = performance.now() + 5_000
  vi.spyOn(performance, 'now').mockReturnValue(later)

  expect(await key.readingsAt(100)).toBe(1)
})
