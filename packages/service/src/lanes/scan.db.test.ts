import { beforeEach, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import type { Block, ChainEvent, EventQuery, Heads } from '../chains/chain.ts'
import { findOpenEvents, readCursor } from '../store/chain-events.ts'
import { type ScanDeps, scanEvents } from './scan.ts'

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
  const world = { fork: 'a', locks: [] as ChainEvent[], hiddenFrom: 1_000n, refusesFrom: 1_000n }
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
        asked.push(`${from}-${last}`)
        const isThere = ({ block }: ChainEvent) => block >= from && block <= last && block < world.hiddenFrom
        return { events: world.locks.filter(isThere), to: last, isComplete: true }
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

const stored = async () =>
  (await findOpenEvents(database.pool, { chainId: CHAIN, from: 0n, to: 1_000n })).map(({ block }) => block)

test('a new chain is scanned from its head on, and then with a few blocks of overlap', async () => {
  const { asked, deps } = createWorld()

  await scanEvents(deps, headsAt(100n), [])
  await scanEvents(deps, headsAt(102n), [])

  expect(asked).toEqual(['96-100', '97-102'])
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
