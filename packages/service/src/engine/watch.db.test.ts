import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { storeTestEvents } from '../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { stub } from '../../test/support/stub.ts'
import {
  insertTestOp,
  insertTestSwap,
  moveTestSwap,
  settleTestSwap,
  type TestSwap,
} from '../../test/support/swaps.ts'
import type { Block, Chain, ChainEvent, Heads, LockRef, LockState, Sent } from '../chains/chain.ts'
import { bindAttestation, insertAttestation } from '../store/attestations.ts'
import { findOpenEvents } from '../store/chain-events.ts'
import type { Lease } from '../store/lanes.ts'
import { takePosition } from '../store/ops.ts'
import { findSwaps } from '../store/swaps.ts'
import type { HeadFollower } from './views.ts'
import { createWatchLane } from './watch.ts'

const CHAIN = 31_337

const database = useTestDatabase()
let account: string
let lease: Lease
beforeAll(async () => {
  account = await insertTestAccount(database.pool)
  lease = await holdTestLane(database, `watch:${CHAIN}`)
})

beforeEach(async () => {
  await query('truncate swaps, tx_attempts, chain_events cascade')
  await query('update ring_positions set op_id = null')
})
afterEach(() => void vi.useRealTimers())

const query = async (sql: string, values: unknown[] = []) => (await database.pool.query(sql, values)).rows

/** Gives an op a position of its chain's ring. The deadline of each op of a test is second 0. */
async function place(opId: string): Promise<string> {
  await takePosition(database.pool, { chainId: CHAIN, locker: 'locker', isShared: true, opId })
  return opId
}

async function submitted(): Promise<TestSwap & { opId: string }> {
  const swap = await insertTestSwap(database.pool, account)
  const [row] = await query('select op_id from swaps where id = $1', [swap.swapId])
  return { ...swap, opId: await place(row?.op_id) }
}

async function unsubmitted({ isExpired }: { isExpired: boolean }): Promise<string> {
  const opId = await place(await insertTestOp(database.pool, account))
  if (isExpired) await query('update ops set expires_at = clock_timestamp() where id = $1', [opId])
  return opId
}

/** A look at a chain whose final block is past every deadline, and has none of the inputs. */
async function watch(readLocks: Chain['readLocks'] = readNone): Promise<void> {
  const block: Block = { number: 20n, height: 20n, hash: '0x20', seconds: 1 }
  const heads: Heads = { head: block, settle: block, hard: block }
  const findEvents = async () => ({ events: [], to: 20n, isComplete: true })
  const chain = { chainId: CHAIN, findEvents, readHoldings: async () => [], readLocks }
  const lane = createWatchLane({
    pool: database.pool,
    chain: stub<Chain>(chain),
    senders: [],
    overlap: 4n,
    undo: async () => {},
    follower: stub<HeadFollower>({ current: () => heads }),
    confirmLocks: async () => {},
    confirmDeliveries: async () => {},
    closeSwaps: async () => [],
    finalizeDeliveries: async () => [],
    noteRecoveries: async () => {},
    onSafe: async () => {},
  })
  for (const task of lane.tasks) await task.step(lease, () => {})
}

const readNone = async (ops: readonly LockRef[]) =>
  new Map(ops.map(({ hash }): [string, LockState] => [hash, 'none']))

const held = async () =>
  (await query('select op_id from ring_positions where op_id is not null')).map((row) => row.op_id)

test('a swap that is not over keeps its position past its deadline: not every chain holds inputs to it', async () => {
  const waiting = await submitted()
  const sent = await submitted()
  await moveTestSwap(database.pool, sent, 'lockRecorded')
  await query("update ops set expires_at = clock_timestamp() - interval '1 hour'")

  await watch()
  expect((await held()).sort()).toEqual([waiting.opId, sent.opId].sort())

  for (const [swap, event] of [[waiting, 'declined'] as const, [sent, 'lockDead'] as const])
    await moveTestSwap(database.pool, swap, event, { failureCode: 'OPERATION_EXPIRED', proof: {} })
  await watch()
  expect(await held()).toEqual([])
})

test('an op that was not submitted keeps its position while it can be submitted', async () => {
  const open = await unsubmitted({ isExpired: false })
  await unsubmitted({ isExpired: true })

  await watch()

  expect(await held()).toEqual([open])
})

test('a position whose input cannot be read stays taken and is reported, and the others are released', async () => {
  const hidden = await unsubmitted({ isExpired: true })
  await unsubmitted({ isExpired: true })
  const before = new Set(await held())
  const trap = new Error('Unexpected failure')

  const look = watch(async (ops, _at, faults) => {
    faults?.push(trap)
    return readNone(ops.filter(({ hash }) => hash !== hidden))
  })

  await expect(look).rejects.toBe(trap)
  expect(before.size - (await held()).length).toBe(1)
  expect(await held()).toContain(hidden)
})

test('a position whose input is locked past its deadline stays taken', async () => {
  const locked = await unsubmitted({ isExpired: true })
  const readLocked = async (ops: readonly LockRef[]) =>
    new Map(ops.map(({ hash }): [string, LockState] => [hash, hash === locked ? 'locked' : 'none']))

  await watch(readLocked)

  expect(await held()).toContain(locked)
})

type Looks = {
  head?: string
  safe?: bigint
  isReached?: boolean
  fault?: Error
  /** Whether the final state contradicts the stored events. */
  isContradicted?: boolean
  /** The kind of event that the database refuses to undo. */
  stuck?: ChainEvent['kind']
}

/** A lane whose chain shows what the test says, and what it did at each look. */
function createLooker() {
  const world: Looks = {}
  const did: string[] = []
  const note = (what: string) => async () => {
    did.push(what)
    if (what === world.fault?.message) throw world.fault
  }
  const noteFinal = (what: string) => async (_: Heads, events: readonly ChainEvent[]) => {
    for (const { kind } of events) did.push(`${what}: ${kind}`)
    return world.isContradicted ? [...events] : []
  }
  const blockAt = (number: bigint, hash = `0x${number}`): Block => ({
    number,
    height: number,
    hash,
    seconds: 1,
  })
  const findEvents = async () => {
    did.push('scan')
    return { events: [], to: 20n, isComplete: true }
  }
  const heads = (): Heads => ({
    head: blockAt(20n, world.head ?? '0x20'),
    settle: blockAt(20n),
    hard: blockAt(20n),
    ...(world.safe !== undefined && { safe: blockAt(world.safe) }),
  })
  const lane = createWatchLane({
    pool: database.pool,
    chain: stub<Chain>({
      chainId: CHAIN,
      findEvents,
      isCanonical: async () => true,
      async readLocks(ops: readonly LockRef[]) {
        did.push(`read ${ops.length} locks`)
        return readNone(ops)
      },
      async readOutcomes<T extends Sent>(sender: string, open: readonly T[]) {
        if (sender === 'removed key') did.push('outcomes of a removed key')
        return { final: [...open], consumed: [], unmined: [], nextNonce: 0 }
      },
    }),
    senders: [],
    overlap: 4n,
    async undo(_db, gone) {
      if (gone.some(({ kind }) => kind === world.stuck)) throw new Error('stuck')
      did.push(...gone.map(({ kind }) => `undo ${kind}`))
    },
    follower: { current: () => (world.isReached === false ? undefined : heads()) } as HeadFollower,
    confirmLocks: note('locks'),
    confirmDeliveries: note('deliveries'),
    closeSwaps: noteFinal('origin'),
    finalizeDeliveries: noteFinal('deliveries'),
    noteRecoveries: async () => {},
    onSafe: async (after, upTo) => void did.push(`safe ${after} ${upTo}`),
  })
  const run = (task: number) => async (change: Looks) => {
    Object.assign(world, change)
    did.length = 0
    const failure = await lane.tasks[task]?.step(lease, () => {}).catch((error: unknown) => error)
    return failure ? [...did, failure] : [...did]
  }
  return { look: run(0), upkeep: run(1) }
}

test('nothing is looked at until the chain was reached', async () => {
  const { look, upkeep } = createLooker()

  expect([await look({ isReached: false }), await upkeep({})]).toEqual([[], []])
})

test('a head is looked at once, and again when something went wrong at it', async () => {
  const { look } = createLooker()
  const fault = new Error('locks')
  await submitted()

  expect(await look({ fault })).toEqual(['scan', 'locks', fault])
  expect(await look({ fault: new Error('none') })).toEqual(['locks'])
  expect(await look({})).toEqual([])
  expect(await look({ head: '0x21' })).toEqual(['locks'])
})

test('nothing is looked at while no swap waits for it', async () => {
  const { look } = createLooker()

  expect(await look({})).toEqual(['scan'])
  expect(await look({ head: '0x21' })).toEqual([])
})

test('events are read at each head while what was sent waits for the chain, else now and then', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { look } = createLooker()

  expect(await look({})).toContain('scan')
  vi.advanceTimersByTime(14_999)
  expect(await look({ head: '0x20a' })).not.toContain('scan')
  vi.advanceTimersByTime(1)
  expect(await look({ head: '0x20b' })).toContain('scan')
  expect(await look({ head: '0x21' })).not.toContain('scan')
  const swap = await submitted()
  await insertTestAttempt(database.pool, swap, 'lock')
  await moveTestSwap(database.pool, swap, 'lockRecorded')
  expect(await look({ head: '0x22' })).toContain('scan')
})

test('newly safe blocks are reported once, from where the last report ended', async () => {
  const { look } = createLooker()

  expect(await look({})).not.toContainEqual(expect.stringMatching('safe'))
  expect(await look({ head: '0x21', safe: 18n })).toContain('safe -1 18')
  expect(await look({ head: '0x22' })).not.toContainEqual(expect.stringMatching('safe'))
  expect(await look({ head: '0x23', safe: 19n })).toContain('safe 18 19')
})

test('the escrow is asked every half a minute about positions and open swaps, and not without any', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { upkeep } = createLooker()
  const asked = [await upkeep({})]
  await submitted()
  for (const ms of [29_999, 1]) {
    vi.advanceTimersByTime(ms)
    asked.push(await upkeep({}))
  }

  expect(asked).toEqual([[], [], ['read 1 locks', 'read 1 locks']])
})

test('final events advance swaps, and those that the final state contradicts are discarded', async () => {
  const { look } = createLooker()
  const [swap] = await findSwaps(database.pool, [(await submitted()).swapId])
  if (!swap) throw new Error('Swap not found')
  for (const kind of ['locked', 'delivered'] as const)
    await storeTestEvents(database.pool, CHAIN, kind, [swap], { block: 20n })
  const stored = () => findOpenEvents(database.pool, { chainId: CHAIN, from: 0n, to: 100n })

  expect(await look({})).toEqual(expect.arrayContaining(['deliveries: delivered', 'origin: locked']))
  expect(await stored()).toHaveLength(2)
  const did = await look({ head: '0x21', isContradicted: true })
  expect(did.filter((what) => String(what).includes(': '))).toEqual([
    'deliveries: delivered',
    'origin: locked',
  ])
  expect(did).toEqual(expect.arrayContaining(['undo delivered', 'undo locked']))
  expect(await stored()).toEqual([])
})

test('an event that cannot be discarded delays no other', async () => {
  const { look } = createLooker()
  const [swap] = await findSwaps(database.pool, [(await submitted()).swapId])
  if (!swap) throw new Error('Swap not found')
  for (const kind of ['locked', 'delivered'] as const)
    await storeTestEvents(database.pool, CHAIN, kind, [swap], { block: 20n })

  const did = await look({ isContradicted: true, stuck: 'delivered' })

  expect(did).toContain('undo locked')
  expect(did.at(-1)).toEqual(new Error('stuck'))
  const left = await findOpenEvents(database.pool, { chainId: CHAIN, from: 0n, to: 100n })
  expect(left.map(({ kind }) => kind)).toEqual(['delivered'])
})

test('transactions of a removed key are followed, and its claims are left to other keys', async () => {
  const { pool } = database
  const swap = await insertTestSwap(pool, account)
  await settleTestSwap(pool, swap)
  await insertAttestation(pool, { chainId: CHAIN, kind: 'claim', swapIds: [swap.swapId] })
  const [{ id }] = (await query('select max(id) as id from attestations')) as [{ id: string }]
  const attemptId = await insertTestAttempt(pool, swap, 'claim', { sender: 'removed key' })
  await bindAttestation(pool, { id, attemptId, hour: 0 })
  await moveTestSwap(pool, swap, 'claimRecorded')

  expect(await createLooker().look({})).toContain('outcomes of a removed key')
  expect(await query('select attempt_id from attestations where id = $1', [id])).toEqual([
    { attempt_id: null },
  ])
})
