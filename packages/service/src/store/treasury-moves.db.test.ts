import { beforeAll, expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import {
  beginDeposit,
  beginWithdrawal,
  endMove,
  findMove,
  findOpenMoves,
  findWithdrawals,
  type Move,
  type MoveName,
  readFree,
  readInventory,
  recordMoveTx,
  setHoldings,
} from './inventory.ts'

const database = useTestDatabase()
beforeAll(async () => {
  await setHoldings(database.pool, { chainId: 1, block: 1n }, [{ token: 'USDC', amount: 100n }])
})

const move = (once: string, amount: bigint): Move => ({
  chainId: 1,
  sender: '0xt',
  once,
  kind: 'withdraw',
  token: 'USDC',
  recipient: '0xr',
  amount,
})
const reserved = async () => (await readInventory(database.pool))[0]?.reserved

test('of concurrent withdrawals, only those start that the vault can pay together', async () => {
  const { pool } = database
  const began = await Promise.all(['1', '2', '3'].map((once) => beginWithdrawal(pool, move(once, 40n), 100n)))

  expect(began.filter(Boolean)).toHaveLength(2)
  expect({ reserved: await reserved(), free: await readFree(pool, move('4', 1n), 100n) }).toEqual({
    reserved: 80n,
    free: 20n,
  })
  expect(await findOpenMoves(pool)).toHaveLength(2)
})

test('a reservation is released once, and signed transactions are known as withdrawals', async () => {
  const { pool } = database
  const [open] = await findOpenMoves(pool)
  if (!open) throw new Error('Nothing is open')

  await recordMoveTx(pool, open, '0xa')
  await recordMoveTx(pool, open, '0xb')
  await endMove(pool, open, 'landed')
  await endMove(pool, open, 'failed')

  expect(await reserved()).toBe(40n)
  expect(await findWithdrawals(pool, 1, ['0xa', '0xc'])).toEqual(new Map([['0xa', 'own']]))
})

const own: Move = { ...move('9', 10n), chainId: 2 }
const others: Move[] = [
  { ...own, once: '10' },
  { ...own, sender: '0xu' },
  { ...own, chainId: 3 },
]
const nameOf = ({ chainId, sender, once }: MoveName) => `${chainId} ${sender} ${once}`

test('a move is known by its chain, its sender and its number together', async () => {
  const { pool } = database
  for (const chainId of [2, 3])
    await setHoldings(pool, { chainId, block: 1n }, [
      { token: 'EURC', amount: 100n },
      { token: 'USDC', amount: 100n },
    ])
  for (const each of [...others, own]) expect(await beginWithdrawal(pool, each, 30n)).toBe(true)
  for (const each of [...others, own]) await recordMoveTx(pool, each, nameOf(each))

  for (const each of [...others, own])
    expect(await findMove(pool, each)).toEqual({ ...each, txHashes: [nameOf(each)], outcome: undefined })
  expect(await findMove(pool, { ...own, once: '11' })).toBeUndefined()
})

test('the end of a withdrawal releases its own reservation, and that of a deposit none', async () => {
  const { pool } = database
  const deposit: Move = { ...own, once: '12', kind: 'deposit' }
  await beginDeposit(pool, deposit)
  await recordMoveTx(pool, deposit, nameOf(deposit))
  const openOfChains = async () =>
    (await findOpenMoves(pool)).filter(({ chainId }) => chainId > 1).map(nameOf)
  expect(await openOfChains()).toEqual([...others, own, deposit].map(nameOf))

  await endMove(pool, own, 'failed')
  await endMove(pool, deposit, 'landed')

  expect((await findMove(pool, own))?.outcome).toBe('failed')
  expect((await findMove(pool, deposit))?.outcome).toBe('landed')
  expect(await openOfChains()).toEqual(others.map(nameOf))
  const held = (await readInventory(pool)).filter(({ reserved }) => reserved > 0n)
  expect(held.map(({ chainId, token, reserved }) => `${chainId} ${token} ${reserved}`).sort()).toEqual([
    '1 USDC 40',
    '2 USDC 20',
    '3 USDC 10',
  ])
  const named = [...others, own, deposit].map(nameOf)
  expect(await findWithdrawals(pool, 3, named)).toEqual(new Map([['3 0xt 9', 'own']]))
  expect((await findWithdrawals(pool, 2, named)).size).toBe(3)
  expect(await findWithdrawals(pool, 2, [])).toEqual(new Map())
})

test.each([
  [{ chainId: 2, token: 'USDC' }, 25n, 5n],
  [{ chainId: 2, token: 'EURC' }, 25n, 25n],
  [{ chainId: 3, token: 'USDC' }, 25n, 15n],
  [{ chainId: 2, token: 'USDC' }, 19n, 0n],
  [{ chainId: 9, token: 'USDC' }, 25n, 25n],
])('of %o, a balance of %i has %i free', async (of, balance, free) => {
  expect(await readFree(database.pool, of, balance)).toBe(free)
})
