import { afterEach, expect, test, vi } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { stub } from '../../test/support/stub.ts'
import { insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Chain, Heads, TxRequest } from '../chains/chain.ts'
import type { Attempt } from '../store/attempts.ts'
import { createSender } from './sender.ts'

const database = useTestDatabase()
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Blocks of two seconds. Block 1 is final unless another is named. */
const headAt = (block: number, final = 1) =>
  ({
    head: { number: BigInt(block), hash: `0x${block}`, seconds: block * 2 },
    settle: { number: BigInt(block) },
    hard: { number: BigInt(final), hash: `0xhard${final}` },
  }) as Heads

type World = {
  refusal?: string
  hasNonces?: boolean
  /** Happens while the chain answers. */
  meanwhile?(): Promise<unknown>
  finalOf?(open: Attempt[]): Attempt[]
}

/** A key that has sent nothing yet, on a chain that counts how often it is asked. */
async function newKey(world: World = {}) {
  const { refusal, hasNonces = true } = world
  const { pool } = database
  let readings = 0
  const chain = stub<Chain>({
    ...{ chainId: 31_337, hasNonces },
    ...{ fits: () => true, readTerms: async () => ({}), broadcast: async () => refusal },
    sign: async () => ({ raw: '0x', txHash: crypto.randomUUID() }),
    readOutcomes: async (_: string, open: Attempt[]) => {
      readings += 1
      await world.meanwhile?.()
      const final = world.finalOf?.(open) ?? []
      return { final, consumed: [], unmined: open.filter(({ isConsumed }) => !isConsumed), nextNonce: 0 }
    },
  })
  const address = `key ${crypto.randomUUID()}`
  const silent = { onSent() {}, onSendFault() {}, onRefused() {}, onReplaced() {} }
  const sender = createSender({
    pool,
    chain,
    address,
    maxInFlight: 64,
    isClaimable: () => true,
    events: silent,
  })
  const lease = await holdTestLane(database, address)
  await sender.followUp(lease, headAt(100))
  readings = 0

  return {
    room: sender.room,
    address,
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
    async readingsAt(block: number, final?: number): Promise<number> {
      await sender.followUp(lease, headAt(block, final))
      return readings
    },
    isFollowedAt: (block: number) => sender.followUp(lease, headAt(block)),
    /** Whether a follow-up asks even the database. */
    async isLookedAt(final?: number): Promise<boolean> {
      const query = vi.spyOn(pool, 'query')
      query.mockClear()
      await sender.followUp(lease, headAt(100, final))
      return query.mock.calls.length > 0
    },
  }
}

test('the chain is not asked about a transaction whose event is stored, which is no longer in flight', async () => {
  const key = await newKey()
  const { storeEvent } = await key.lock()
  const before = [key.room(), await key.readingsAt(101)]
  expect(await key.isFollowedAt(101)).toBe(true)
  await storeEvent()

  expect([...before, await key.readingsAt(102), key.room()]).toEqual([63, 0, 0, 64])
})

test('a transaction whose nonce is consumed is not in flight, and not asked about, without an event', async () => {
  const key = await newKey()
  await key.lock()
  await database.pool.query('update tx_attempts set consumed_block = 100 where sender = $1', [key.address])

  expect([await key.readingsAt(104), key.room()]).toEqual([0, 64])
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

const moveClock = (ms: number) => void vi.advanceTimersByTime(ms)
const holdClock = () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  moveClock(1_000)
}

test('an unwanted transaction does not wait for the next block, which may never come', async () => {
  holdClock()
  const key = await newKey()
  const { swap } = await key.lock()
  await moveTestSwap(database.pool, swap, 'declined', { failureCode: 'OPERATION_EXPIRED', proof: {} })
  moveClock(5_000)

  expect(await key.readingsAt(100)).toBe(1)
})

test('an idle key is looked at every five seconds while blocks become final, else every minute', async () => {
  holdClock()
  const key = await newKey()
  const looks: boolean[] = []
  // A block became final, and then none.
  for (const [ms, final] of [
    [4_999, 99] as const,
    [1, 99] as const,
    [0, 99] as const,
    [59_999, 1] as const,
    [1, 1] as const,
  ]) {
    moveClock(ms)
    looks.push(await key.isLookedAt(final))
  }

  expect(looks).toEqual([false, true, false, false, true])
})

test.each([
  [299_999, 0],
  [300_000, 1],
])('the nonce of a key without transactions, last read %i ms ago, is read %i times', async (ms, readings) => {
  holdClock()
  const key = await newKey()
  moveClock(290_000)
  await key.isLookedAt(99)
  moveClock(ms - 290_000)

  expect(await key.isLookedAt()).toBe(readings === 1)
  expect(await key.readingsAt(100)).toBe(readings)
})

test('a key that was idle for minutes is not read at once when it sends', async () => {
  holdClock()
  const key = await newKey()
  moveClock(61_000)
  await key.lock()

  expect(await key.readingsAt(100)).toBe(0)
})

test('transactions with events are read every minute, also while others are sent', async () => {
  holdClock()
  const key = await newKey()
  await (await key.lock()).storeEvent()
  moveClock(59_000)
  await key.lock()
  const early = await key.readingsAt(100)
  moveClock(1_000)

  expect([early, await key.readingsAt(100)]).toEqual([0, 1])
})

test('transactions with events are read once a block became final, less often if finality is far', async () => {
  holdClock()
  const key = await newKey()
  await (await key.lock()).storeEvent()
  await key.readingsAt(101)
  const isLookedAt = await key.isLookedAt()
  moveClock(6_799)
  const early = await key.readingsAt(133, 33)
  moveClock(1)

  expect([isLookedAt, early, await key.readingsAt(133, 33)]).toEqual([false, 0, 1])
})

test('a transaction that became final elsewhere is no longer in flight', async () => {
  const key = await newKey()
  const { swap } = await key.lock()
  await database.pool.query(
    'update tx_attempts set final_at = now() where id in (select attempt_id from attempt_swaps where swap_id = $1)',
    [swap.swapId],
  )
  await key.readingsAt(101)

  expect(key.room()).toBe(64)
})

test('after a reading that shows transactions in flight the next follows at once', async () => {
  const key = await newKey()
  for (let count = 0; count < 2; count += 1) await key.lock()

  expect([await key.readingsAt(104), key.room(), await key.readingsAt(104)]).toEqual([1, 62, 2])
})

test('a transaction that is sent during a reading is in flight, and followed', async () => {
  holdClock()
  const world: World = {}
  const key = await newKey(world)
  const sent: Awaited<ReturnType<typeof key.lock>>[] = []
  world.meanwhile = async () => sent.push(await key.lock())
  moveClock(300_000)
  await key.readingsAt(100)
  const room = key.room()
  await sent[0]?.storeEvent()
  await key.readingsAt(101)

  expect([sent.length, room, key.room()]).toEqual([1, 63, 64])
})

test('while a reading shows as many final transactions as it can, the next follows at once', async () => {
  holdClock()
  const key = await newKey({ finalOf: (open) => open.slice(0, 200) })
  moveClock(5_000)
  await database.pool.query(
    `insert into tx_attempts (chain_id, sender, nonce, replacement, role, tx_hash, raw, request, effect_hash,
                              consumed_block)
     select 31337, $1, n, 0, 'noop', $1 || n, '0x', '{"sentAtBlock": "0"}', '', 1 from generate_series(1, 250) as n`,
    [key.address],
  )
  const readings: number[] = []
  for (let look = 0; look < 3; look += 1) readings.push(await key.readingsAt(100, 99))

  expect(readings).toEqual([1, 2, 2])
})
