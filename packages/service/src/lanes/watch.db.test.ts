import { beforeAll, expect, test } from 'vitest'
import { insertTestAttempt } from '../../test/support/attempts.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { holdTestLane } from '../../test/support/lanes.ts'
import { insertTestOp, insertTestSwap, moveTestSwap, type TestSwap } from '../../test/support/swaps.ts'
import type { Block, Chain, Heads, LockRef, LockState } from '../chains/chain.ts'
import type { Lease } from '../store/lanes.ts'
import { takePosition } from '../store/ops.ts'
import type { HeadFollower } from './head-follower.ts'
import { createWatchLane } from './watch.ts'

const CHAIN = 31_337

const database = useTestDatabase()
let account: string
let lease: Lease
beforeAll(async () => {
  account = await insertTestAccount(database.pool)
  lease = await holdTestLane(database, `watch:${CHAIN}`)
})

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
    chain: chain as unknown as Chain,
    senders: [],
    overlap: 4n,
    undo: async () => {},
    follower: { current: () => heads } as unknown as HeadFollower,
    confirmLocks: async () => {},
    confirmDeliveries: async () => {},
    finalizeOrigin: async () => [],
    finalizeDeliveries: async () => [],
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

type Looks = { head?: string; safe?: bigint; isAwaited?: boolean; fault?: Error }

/** A lane whose chain shows what the test says, and what it did at each look. */
function createLooker() {
  const world: Looks = {}
  const did: string[] = []
  const note = (what: string) => async () => {
    did.push(what)
    if (what === world.fault?.message) throw world.fault
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
    chain: {
      chainId: CHAIN,
      findEvents,
      readHoldings: async () => [],
      readLocks: readNone,
    } as unknown as Chain,
    senders: [],
    overlap: 4n,
    undo: async () => {},
    follower: { current: heads } as unknown as HeadFollower,
    confirmLocks: note('locks'),
    confirmDeliveries: note('deliveries'),
    finalizeOrigin: async () => [],
    finalizeDeliveries: async () => [],
    onSafe: async (after, upTo) => void did.push(`safe ${after} ${upTo}`),
  })
  const look = async (change: Looks) => {
    Object.assign(world, change)
    did.length = 0
    const failure = await lane.tasks[0]?.step(lease, () => {}).catch((error: unknown) => error)
    return failure ? [...did, failure] : [...did]
  }
  return { lane, look }
}

test('a head is looked at once, and again when something went wrong at it', async () => {
  await query('delete from swaps')
  const { look } = createLooker()
  const fault = new Error('locks')

  expect(await look({ fault })).toEqual(['scan', 'deliveries', 'locks', fault])
  expect(await look({ fault: new Error('none') })).toEqual(['deliveries', 'locks'])
  expect(await look({})).toEqual([])
  expect(await look({ head: '0x21' })).toEqual(['deliveries', 'locks'])
})

test('events are read at each head while what was sent waits for the chain, else now and then', async () => {
  await query('delete from swaps')
  const { look } = createLooker()

  expect(await look({})).toContain('scan')
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
