import { afterEach, beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestOp } from '../../test/support/swaps.ts'
import type { Block, ChainEvent, Heads } from '../chains/chain.ts'
import { useQuarantine } from '../isolate.ts'
import { findOpenEvents, readCursor } from '../store/chain-events.ts'
import { toRecoveryId } from '../swap/deposit.ts'
import { type ScanDeps, scanEvents } from './scan.ts'

const CHAIN = 31_337
const database = useTestDatabase()
const aside: string[] = []
beforeEach(() => {
  useQuarantine({
    isOutage: () => false,
    setAside: async ({ step, id }) => void aside.push(`${step} ${id}`),
    release: async () => {},
  })
  aside.splice(0)
  return database.pool.query('truncate chain_events, chain_cursors, swaps, ops cascade')
})
afterEach(() => useQuarantine(undefined))

// More digits than the column has.
const TOO_LARGE = 10n ** 80n

const eventOf = (id: string, amount = 1n, kind: ChainEvent['kind'] = 'delivered'): ChainEvent => ({
  kind,
  id,
  amount,
  block: 5n,
  blockHash: '0x5',
  txHash: '0xtx',
})

/** Scans a chain that has these events. Returns what is stored then, the cursor and the number of faults. */
async function scan(events: ChainEvent[], own: Partial<ScanDeps> = {}) {
  const { pool } = database
  const head: Block = { number: 9n, height: 9n, hash: '0x9', seconds: 9 }
  const heads: Heads = { head, settle: head, hard: head }
  const faults: unknown[] = []
  await scanEvents(
    {
      pool,
      overlap: 9n,
      undo: async () => {},
      chain: {
        chainId: CHAIN,
        findEvents: async () => ({ events, to: 9n, isComplete: true }),
        isCanonical: async () => events.length > 0,
      },
      ...own,
    },
    heads,
    faults,
  )
  const stored = await findOpenEvents(pool, { chainId: CHAIN, from: 0n, to: 9n })
  return { stored: stored.map(({ id }) => id), cursor: await readCursor(pool, CHAIN), faults: faults.length }
}

test('an event that cannot be stored delays no other, and is set aside at the third scan', async () => {
  const events = [eventOf('0xa'), eventOf('0xbad', TOO_LARGE), eventOf('0xb')]

  const first = await scan(events)
  await scan(events)
  const third = await scan(events)

  expect(first).toEqual({ stored: ['0xa', '0xb'], cursor: undefined, faults: 1 })
  expect(third).toEqual({ stored: ['0xa', '0xb'], cursor: 9n, faults: 0 })
  expect(aside).toEqual(['store event 31337 delivered:0xbad'])
})

test('an event that cannot be undone delays the undoing of no other', async () => {
  await scan([eventOf('0xa', 1n, 'locked'), eventOf('0xbad', 1n, 'locked'), eventOf('0xb', 1n, 'locked')])
  const undone: string[] = []
  const undo: ScanDeps['undo'] = async (_, gone) => {
    if (gone.some(({ id }) => id === '0xbad')) throw new Error('a state that nobody expected')
    undone.push(...gone.map(({ id }) => id))
  }

  const first = await scan([], { undo })

  expect({ ...first, undone }).toEqual({ stored: ['0xbad'], cursor: 9n, faults: 1, undone: ['0xa', '0xb'] })
})

test('an event that comes twice on a page is stored once', async () => {
  expect(await scan([eventOf('0xa', 1n, 'locked'), eventOf('0xa', 1n, 'locked')])).toMatchObject({
    stored: ['0xa'],
    cursor: 9n,
    faults: 0,
  })
})

test('the cursor does not wait for a recovery that cannot be stored', async () => {
  const opId = await insertTestOp(database.pool, await insertTestAccount(database.pool))
  await database.pool.query(`update ops set hash = '0xop', method = 'deposit' where id = $1`, [opId])
  const id = toRecoveryId({ op: '0xop', token: '0xt', txHash: '0xtx' })

  expect(await scan([eventOf('0xa'), eventOf(id, TOO_LARGE, 'recovered')])).toEqual({
    stored: ['0xa'],
    cursor: 9n,
    faults: 1,
  })
})
