import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../../test/support/database.ts'
import { insertTestSwap, settleTestSwap } from '../../../test/support/swaps.ts'
import type { Block } from '../../chains/chain.ts'
import type { Custody, CustodyEvent, Held } from '../../chains/custody.ts'
import { raiseNonce } from '../../store/attempts.ts'
import { beginPayout } from '../../store/integrator-fees.ts'
import { recordMoveTx, setHoldings } from '../../store/inventory.ts'
import { insertMovements, readLedgerBalances } from '../../store/ledger.ts'
import { findActiveStops, resumeStop } from '../../store/stops.ts'
import { createBookkeeper, type Stopped } from './bookkeeper.ts'

const database = useTestDatabase()
let chainId = 5_000

beforeEach(async () => {
  chainId += 1
  await database.pool.query('delete from quote_stops')
})

/** A chain with balances and events set by the test. */
function startBooks() {
  let block = 100n
  const held = { escrow: 50n, vault: 1_000n }
  let events: CustodyEvent[] = []
  let senders: readonly string[] = []
  const stopped: Stopped[] = []
  const mended: string[] = []
  const balances = (): Held[] => [
    { place: 'escrow', token: 'output', amount: held.escrow },
    { place: 'vault', token: 'output', amount: held.vault },
  ]
  const book = createBookkeeper({
    pool: database.pool,
    chain: {
      chainId,
      async readCustody(_after, _hard, known = []): Promise<Custody> {
        senders = known
        return { block, events, balances: balances() }
      },
      findPaid: async () => ({ token: 'output', amount: 7n }),
      findSold: async () => undefined,
      isOurLock: async (txHash) => txHash.startsWith('0xours'),
    },
    assetOf: (token) => (token === 'output' ? 'OUT' : undefined),
    onDrift: (drift) => stopped.push(drift),
    onMended: (stopId) => mended.push(stopId),
  })
  const hard = (): Block => ({ number: block, height: block, hash: `${block}`, seconds: 0 })
  return {
    held,
    askedFor: () => senders,
    stopped,
    mended,
    /** Produces this many blocks and reads each. */
    async read(times: number, happened: CustodyEvent[] = []): Promise<void> {
      for (let i = 0; i < times; i += 1) {
        block += 1n
        events = i === 0 ? happened : []
        await book(hard)
      }
    },
  }
}

async function accounts(): Promise<Record<string, bigint>> {
  const balances = await readLedgerBalances(database.pool, chainId)
  return Object.fromEntries(
    balances.filter(({ token }) => token === 'output').map(({ account, amount }) => [account, amount]),
  )
}

test('books open with the held balances, and add up to zero', async () => {
  const books = startBooks()

  await books.read(1)

  expect(await accounts()).toEqual({ outside: -1_050n, spare: 50n, inventory: 1_000n })
})

test('events before the opening are not booked a second time', async () => {
  const books = startBooks()
  await books.read(1)

  const before = { kind: 'received', place: 'vault', token: 'output', amount: 9n } as const
  await books.read(3, [{ ...before, txHash: '0xbefore', block: 101n, part: 0 }])

  expect(await accounts()).toEqual({ outside: -1_050n, spare: 50n, inventory: 1_000n })
})

test('unsolicited transfers are booked as received, and stop nothing', async () => {
  const books = startBooks()
  await books.read(1)

  books.held.vault += 5n
  books.held.escrow += 3n
  await books.read(3)

  expect(await accounts()).toEqual({ outside: -1_058n, spare: 53n, inventory: 1_005n })
  expect(books.stopped).toEqual([])
})

test('a difference in only one reading is a late node', async () => {
  const books = startBooks()
  await books.read(1)

  books.held.vault -= 5n
  await books.read(2)
  books.held.vault += 5n
  await books.read(3)

  expect(await accounts()).toMatchObject({ inventory: 1_000n })
  expect(await findActiveStops(database.pool)).toEqual([])
})

test('a shortfall stops the asset on that chain, once, until an operator resumes it', async () => {
  const books = startBooks()
  await books.read(1)

  books.held.vault -= 5n
  await books.read(6)
  const [stop, ...more] = await findActiveStops(database.pool)
  await resumeStop(database.pool, { id: stop?.id ?? '', by: 'test', note: 'found it' })
  await books.read(3)

  expect(stop).toMatchObject({ why: 'drift', scope: { kind: 'part', chainId, asset: 'OUT' } })
  expect(stop?.note).toBe('less is held than the books say: 5 of output')
  expect(more).toEqual([])
  expect(books.stopped).toHaveLength(1)
  expect(await accounts()).toMatchObject({ inventory: 995n, unexplained: 5n })
  expect(await findActiveStops(database.pool)).toEqual([])
})

test('a stop ends by itself once the missing amount is back, and not before', async () => {
  const books = startBooks()
  await books.read(1)
  books.held.vault -= 5n
  await books.read(3)
  const [stop] = await findActiveStops(database.pool)

  books.held.vault += 3n
  await books.read(3)
  const half = await findActiveStops(database.pool)
  books.held.vault += 4n
  await books.read(3)

  expect(half).toEqual([stop])
  expect(await findActiveStops(database.pool)).toEqual([])
  expect(books.mended).toEqual([stop?.id])
  expect(await accounts()).toMatchObject({ inventory: 1_002n, unexplained: 0n, outside: -1_052n })
})

test('an input that a stranger locked and withdrew stops nothing; one of our own without a swap does', async () => {
  const books = startBooks()
  await books.read(1)
  const lock = { kind: 'locked', op: '0xtheirs', block: 102n, part: 0 } as const

  books.held.escrow += 7n
  await books.read(1, [{ ...lock, txHash: '0xstranger' }])
  // Through a contract, whose call reveals nothing.
  books.held.escrow += 9n
  await books.read(3)
  books.held.escrow -= 9n
  await books.read(3)

  expect(books.stopped).toEqual([])
  expect(await accounts()).toEqual({ outside: -1_057n, spare: 57n, inventory: 1_000n })

  books.held.escrow += 7n
  await books.read(1, [{ ...lock, op: '0xours', txHash: '0xours', block: 109n }])
  expect(books.stopped).toMatchObject([{ txHash: '0xours', asset: 'OUT' }])
})

test('an escrow balance below its inputs is a shortfall, whatever strangers had there', async () => {
  const books = startBooks()
  await books.read(1)

  books.held.escrow -= 60n
  await books.read(3)

  expect(await accounts()).toMatchObject({ spare: -10n, unexplained: 10n })
  expect(books.stopped).toMatchObject([{ amount: 10n }])
})

test('a delivery without a swap stops at once, and is booked as unexplained', async () => {
  const books = startBooks()
  await books.read(1)

  books.held.vault -= 7n
  const stolen = { kind: 'delivered', delivery: '0xnobody', amount: 7n } as const
  await books.read(1, [{ ...stolen, txHash: '0xtheft', block: 102n, part: 3 }])

  expect(books.stopped).toMatchObject([{ txHash: '0xtheft', asset: 'OUT', amount: 7n }])
  expect(await accounts()).toMatchObject({ inventory: 993n, unexplained: 7n })
})

test('an event that is read twice is booked once, with its swap', async () => {
  const { pool } = database
  const books = startBooks()
  await books.read(1)
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  const { rows } = await pool.query(
    'select o.hash from ops o join swaps s on s.op_id = o.id where s.id = $1',
    [swap.swapId],
  )
  const paid = { kind: 'delivered', delivery: rows[0].hash, amount: 990n } as const

  books.held.vault -= 990n
  for (let i = 0; i < 2; i += 1) await books.read(1, [{ ...paid, txHash: '0xpaid', block: 102n, part: 1 }])

  const booked = await pool.query('select swap_id, amount from ledger_movements where source = $1', [
    '0xpaid',
  ])
  expect(booked.rows).toEqual([{ swap_id: swap.swapId, amount: '990' }])
  expect(await accounts()).toMatchObject({ inventory: 10n, wallet: 990n })
  expect(books.stopped).toEqual([])
})

test('the fee that an account added stays apart in the vault until it is paid out', async () => {
  const { pool } = database
  const books = startBooks()
  await books.read(1)
  const accountId = await insertTestAccount(pool)
  const { swapId } = await insertTestSwap(pool, accountId)
  const { rows } = await pool.query(
    `update ops set integrator_fee = 30, input_token = 'output'
      where id = (select op_id from swaps where id = $1) returning hash`,
    [swapId],
  )
  const at = { block: 102n, part: 0, op: rows[0].hash }
  const move = { chainId, sender: '0xt', once: '1', kind: 'withdraw', token: 'output' } as const
  const payout = { ...move, recipient: '0xr', amount: 20n, accountId }

  await books.read(1, [{ ...at, kind: 'locked', txHash: '0xlock' }])
  books.held.vault += 1_000n
  await books.read(4, [{ ...at, kind: 'claimed', txHash: '0xclaim' }])
  expect(await accounts()).toMatchObject({ locked: 0n, inventory: 1_970n, integrators: 30n })

  await setHoldings(pool, { chainId, block: 102n }, [{ token: 'output', amount: 2_000n }])
  expect(await beginPayout(pool, payout, 2_000n)).toBe(true)
  await recordMoveTx(pool, payout, '0xpayout')
  books.held.vault -= 20n
  await books.read(4, [{ ...at, kind: 'withdrawn', token: 'output', amount: 20n, txHash: '0xpayout' }])
  expect(await accounts()).toMatchObject({ inventory: 1_970n, integrators: 10n })
  expect(books.stopped).toEqual([])
})

test('a delivery that was recorded as final but is on no chain stops quotes', async () => {
  const { pool } = database
  chainId = 31_338
  const books = startBooks()
  await books.read(1)
  const swap = await insertTestSwap(pool, await insertTestAccount(pool))
  await settleTestSwap(pool, swap)
  await pool.query('update swaps set delivery_final = true where id = $1', [swap.swapId])
  await pool.query(
    'update ops set destination_block = 1000 where id = (select op_id from swaps where id = $1)',
    [swap.swapId],
  )

  await books.read(4)

  expect(books.stopped).toMatchObject([{ why: 'a delivery that was recorded is not on the chain' }])
})

test('bookings cannot be changed, deleted or unbalanced', async () => {
  const { pool } = database
  await startBooks().read(1)
  const line = { source: 'x', part: 0, block: 1n, kind: 'surplus', token: 'output', amount: 1n } as const

  await expect(pool.query('update ledger_movements set amount = 1')).rejects.toThrow(/book the opposite/)
  await expect(pool.query('delete from ledger_movements')).rejects.toThrow(/book the opposite/)
  await expect(pool.query('truncate ledger_movements')).rejects.toThrow(/book the opposite/)
  await expect(
    insertMovements(pool, chainId, [{ ...line, debit: 'outside', credit: 'outside' }]),
  ).rejects.toThrow()
  const { rows } = await pool.query('select sum(amount) from ledger_balances group by chain_id, token')
  expect(new Set(rows.map(({ sum }) => sum))).toEqual(new Set(['0']))
})

test('events are read for every key that ever sent here, removed ones included', async () => {
  const books = startBooks()
  await raiseNonce(database.pool, { chainId, address: 'replaced', atLeast: 0 })
  await raiseNonce(database.pool, { chainId: chainId + 1, address: 'elsewhere', atLeast: 0 })

  await books.read(2)

  expect(books.askedFor()).toEqual(['replaced'])
})
