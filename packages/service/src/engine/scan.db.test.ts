import { beforeEach, expect, test } from 'vitest'
import { storeTestEvents } from '../../test/support/chain-events.ts'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, lockTestSwap } from '../../test/support/swaps.ts'
import type { Block, ChainEvent, EventQuery, Heads, LockRef, LockState } from '../chains/chain.ts'
import { findOpenEvents, readCursor } from '../store/chain-events.ts'
import { findSwaps } from '../store/swaps.ts'
import type { Swap } from '../swap/swap.ts'
import { overlapOf, type ScanDeps, scanEvents } from './scan.ts'
import { createAudit } from './watch.ts'

const CHAIN = 31_337
const PAGE = 10n

const database = useTestDatabase()
beforeEach(() => database.pool.query('truncate chain_events, chain_cursors, swaps, ops cascade'))

const lockIn = (block: bigint, fork = 'a'): ChainEvent => ({
  kind: 'locked',
  id: `0x${block}`,
  block,
  blockHash: `${fork}${block}`,
  txHash: `0xtx${block}`,
})

/** A chain with one fork at a time, whose node returns a few blocks per page and may leave out the newest. */
function createWorld() {
  const world = {
    fork: 'a',
    locks: [] as ChainEvent[],
    hiddenFrom: 1_000n,
    refusesFrom: 1_000n,
    isComplete: true,
  }
  const asked: string[] = []
  const deps: ScanDeps = {
    pool: database.pool,
    overlap: 4n,
    undo: async () => {},
    chain: {
      chainId: CHAIN,
      async findEvents({ from, heads }: EventQuery) {
        const last = from + PAGE - 1n < heads.head.number ? from + PAGE - 1n : heads.head.number
        if (last >= world.refusesFrom) throw new Error('429')
        if (from > last || asked.length > 20) throw new Error('Asked without end')
        asked.push(`${from}-${last}`)
        const isThere = ({ block }: ChainEvent) => block >= from && block <= last && block < world.hiddenFrom
        return { events: world.locks.filter(isThere), to: last, isComplete: world.isComplete }
      },
      isCanonical: async ({ number, hash }) => hash === `${world.fork}${number}`,
    },
  }
  return { world, asked, deps }
}

function headsAt(number: bigint): Heads {
  const head: Block = { number, height: number, hash: `0x${number}`, seconds: Number(number) }
  return { head, settle: head, hard: { ...head, number: 0n } }
}

/** A swap whose input may have been taken from this block on. */
async function swapFrom(originBlock: bigint, { isLocked = false, isFinal = false } = {}): Promise<Swap> {
  const { pool } = database
  const { swapId, ...owner } = await insertTestSwap(pool, await insertTestAccount(pool))
  await pool.query('update ops set origin_block = $2 where id = (select op_id from swaps where id = $1)', [
    swapId,
    originBlock,
  ])
  if (isLocked || isFinal) await lockTestSwap(pool, { swapId, ...owner })
  if (isFinal) await pool.query('update swaps set origin_final = true where id = $1', [swapId])
  const [swap] = await findSwaps(pool, [swapId])
  return swap ?? expect.unreachable()
}

const stored = async () =>
  (await findOpenEvents(database.pool, { chainId: CHAIN, from: 0n, to: 1_000n })).map(({ block }) => block)

test('a new chain is scanned from its head on, and then with a few blocks of overlap', async () => {
  const { asked, deps } = createWorld()

  await scanEvents(deps, headsAt(100n), [])
  await scanEvents(deps, headsAt(102n), [])

  expect(asked).toEqual(['96-100', '97-102'])
})

test.each([
  [60, 2_000, 34n],
  [61, 2_000, 35n],
  [0, 400, 4n],
])(
  'a reorg window of %i s with blocks of %i ms is %i blocks, with some for late logs',
  (window, blockMs, blocks) => {
    expect(overlapOf({ finality: { reorgWindowSeconds: window }, blockMs })).toBe(blocks)
  },
)

test('a head below the scanned blocks is scanned with the same overlap', async () => {
  const { asked, deps } = createWorld()

  await scanEvents(deps, headsAt(100n), [])
  await scanEvents(deps, headsAt(98n), [])

  expect(asked).toEqual(['96-100', '95-98'])
})

test('a chain of a few blocks is scanned from its first', async () => {
  const { asked, deps } = createWorld()

  await scanEvents(deps, headsAt(2n), [])

  expect(asked).toEqual(['0-2'])
})

test('a new database scans from the block of its oldest open swap', async () => {
  const { asked, deps } = createWorld()
  await swapFrom(90n)

  await scanEvents(deps, headsAt(100n), [])

  expect(asked).toEqual(['86-95', '96-100'])
})

test('stored pages are not read again when a node refuses the next page', async () => {
  const { world, asked, deps } = createWorld()
  await scanEvents(deps, headsAt(100n), [])
  world.refusesFrom = 120n

  await expect(scanEvents(deps, headsAt(140n), [])).rejects.toThrow('429')
  world.refusesFrom = 1_000n
  asked.length = 0
  await scanEvents(deps, headsAt(140n), [])

  expect(asked[0]).toBe('113-122')
  expect(await readCursor(database.pool, CHAIN)).toBe(140n)
})

test('a lagging node that leaves out the newest logs removes no event', async () => {
  const { world, deps } = createWorld()
  world.locks = [lockIn(100n)]
  await scanEvents(deps, headsAt(100n), [])

  world.hiddenFrom = 100n
  await scanEvents(deps, headsAt(101n), [])

  expect(await stored()).toEqual([100n])
})

test('a page that a node could not complete removes no event', async () => {
  const { world, deps } = createWorld()
  world.locks = [lockIn(100n)]
  await scanEvents(deps, headsAt(100n), [])

  Object.assign(world, { fork: 'b', locks: [], isComplete: false })
  await scanEvents(deps, headsAt(101n), [])

  expect(await stored()).toEqual([100n])
})

test('a log that a node indexes late is found with the next head', async () => {
  const { world, deps } = createWorld()
  world.locks = [lockIn(100n)]
  world.hiddenFrom = 100n
  await scanEvents(deps, headsAt(100n), [])
  expect(await stored()).toEqual([])

  world.hiddenFrom = 1_000n
  await scanEvents(deps, headsAt(101n), [])

  expect(await stored()).toEqual([100n])
})

test('an event in a block that a reorg replaced is removed, and its swaps are notified', async () => {
  const { world, deps } = createWorld()
  const undone: string[] = []
  world.locks = [lockIn(99n), lockIn(100n)]
  await scanEvents(deps, headsAt(100n), [])

  world.fork = 'b'
  world.locks = [lockIn(99n, 'b')]
  const undo = async (_db: unknown, gone: readonly ChainEvent[]) =>
    void undone.push(...gone.map(({ id }) => id))
  await scanEvents({ ...deps, undo }, headsAt(101n), [])

  expect(undone).toEqual(['0x100'])
  expect(await stored()).toEqual([99n])
})

const CURSOR = 100n
const auditHeads: Heads = { ...headsAt(120n), hard: { ...headsAt(110n).head } }

/** Audits swaps of which the escrow shows this state from this block on; returns the cursor of the scan. */
async function audit(state: LockState, since = 0): Promise<bigint | undefined> {
  await database.pool.query('insert into chain_cursors (chain_id, scanned_to) values ($1, $2)', [
    CHAIN,
    CURSOR,
  ])
  const readLocks = async (ops: readonly LockRef[], at: { number: bigint }) =>
    new Map(ops.map(({ hash }): [string, LockState] => [hash, at.number >= since ? state : 'none']))
  await createAudit({ pool: database.pool, chain: { chainId: CHAIN, readLocks } })(auditHeads, [])
  return readCursor(database.pool, CHAIN)
}

type Audited = { isLocked?: boolean; isFinal?: boolean; stored?: ChainEvent['kind']; since?: number }

test.each<[LockState, Audited, bigint]>([
  ['none', {}, CURSOR],
  ['locked', {}, 49n],
  ['locked', { since: 120 }, 49n],
  ['locked', { stored: 'locked' }, CURSOR],
  ['locked', { isLocked: true }, 49n],
  ['locked', { isFinal: true }, CURSOR],
  ['claimed', { isFinal: true }, 49n],
  ['claimed', { isFinal: true, since: 110 }, 49n],
  ['claimed', { isFinal: true, since: 111 }, CURSOR],
  ['claimed', { isFinal: true, stored: 'claimed' }, CURSOR],
  ['refunded', { isFinal: true }, 49n],
  ['refunded', { isFinal: true, stored: 'claimed' }, 49n],
])(
  'an input that the escrow shows as %s, of a swap that has %j, is scanned for after block %i',
  async (...row) => {
    const [state, { stored: kind, since, ...has }, cursor] = row
    const swap = await swapFrom(50n, has)
    if (kind) await storeTestEvents(database.pool, CHAIN, kind, [swap])
    await database.pool.query('delete from chain_cursors')

    expect(await audit(state, since)).toBe(cursor)
  },
)

test('of several missing events the oldest decides from where to scan', async () => {
  for (const block of [60n, 50n, 70n]) await swapFrom(block)

  expect(await audit('locked', 120)).toBe(49n)
})

test('all open swaps are audited in turn, a part at a time', async () => {
  const hashes: string[] = []
  for (let count = 0; count < 4; count += 1) hashes.push((await swapFrom(50n, { isLocked: true })).op.hash)
  const seen: string[][] = []
  const readLocks = async (ops: readonly LockRef[]) => {
    seen.push(ops.map(({ hash }) => hash))
    return new Map<string, LockState>()
  }
  const look = createAudit({ pool: database.pool, chain: { chainId: CHAIN, readLocks }, auditedAtOnce: 3 })

  for (let count = 0; count < 3; count += 1) await look(auditHeads, [])

  expect(seen.map(({ length }) => length)).toEqual([3, 1, 3])
  expect(new Set(seen.slice(0, 2).flat())).toEqual(new Set(hashes))
  expect(seen[2]).toEqual(seen[0])
})

test('the escrow is not asked without open swaps', async () => {
  const readLocks = () => expect.unreachable('There is nothing to ask about')

  await createAudit({ pool: database.pool, chain: { chainId: CHAIN, readLocks } })(auditHeads, [])
})
