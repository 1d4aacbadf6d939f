import { expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { insertTestSwap, moveTestSwap } from '../../test/support/swaps.ts'
import type { Swap } from '../model/swap.ts'
import { readInventory, setHoldings } from './inventory.ts'
import { advanceSwap, advanceTogether, areUnmoved, findSwaps } from './swaps.ts'

const database = useTestDatabase()

async function accepted(): Promise<Swap> {
  const { swapId } = await insertTestSwap(database.pool, await insertTestAccount(database.pool))
  return find(swapId)
}

async function find(id: string): Promise<Swap> {
  const [swap] = await findSwaps(database.pool, [id])
  if (!swap) throw new Error('Swap not found')
  return swap
}

test('of two workers that read the same version, one moves the swap, and the other is refused', async () => {
  const swap = await accepted()

  const proof = { kind: 'neverSigned', chainId: 1, block: undefined } as const
  const first = await advanceSwap(database.pool, { swap, event: 'lockRecorded' })
  const second = await advanceSwap(database.pool, {
    swap,
    event: 'declined',
    failureCode: 'PRICE_MOVED',
    proof,
  })

  expect([first?.state, second]).toEqual(['locking', undefined])
  expect(await find(swap.id)).toMatchObject({ state: 'locking', version: swap.version + 1 })
})

test('a move changes no other swap', async () => {
  const [moved, other] = [await accepted(), await accepted()]

  await advanceSwap(database.pool, { swap: moved, event: 'lockRecorded' })

  expect(await find(other.id)).toEqual(other)
})

test('an event that the state does not accept changes nothing', async () => {
  const swap = await accepted()

  expect(await advanceSwap(database.pool, { swap, event: 'claimRecorded' })).toBeUndefined()
  expect(await find(swap.id)).toEqual(swap)
})

test('swaps move together, or not at all if one has moved', async () => {
  const [first, second] = [await accepted(), await accepted()]
  const both = [first, second]
  expect(await areUnmoved(database.pool, both)).toBe(true)
  expect(await advanceTogether(database.pool, { swaps: both, event: 'lockRecorded' })).toBe(true)

  expect(await areUnmoved(database.pool, both)).toBe(false)
  expect(await advanceTogether(database.pool, { swaps: both, event: 'lockRecorded' })).toBe(false)
  expect((await find(first.id)).version).toBe(first.version + 1)
  const locking = await Promise.all(both.map(({ id }) => find(id)))
  await moveTestSwap(database.pool, { swapId: second.id, accountId: '' }, 'lockSeen')
  expect(await advanceTogether(database.pool, { swaps: locking, event: 'lockRecorded' })).toBe(false)
  expect(await advanceTogether(database.pool, { swaps: locking, event: 'claimRecorded' })).toBe(false)
})

const holding = async (chainId: number, token: string) =>
  (await readInventory(database.pool)).find((each) => each.chainId === chainId && each.token === token)?.held

test.each([
  ['a newer block', 11n, 7n],
  ['the same block, read again', 10n, 7n],
  ['an older block, which changes nothing', 9n, 5n],
])('a vault balance is that of %s', async (_, block, held) => {
  const token = `token-${block}`
  await setHoldings(database.pool, { chainId: 1, block: 10n }, [{ token, amount: 5n }])
  await setHoldings(database.pool, { chainId: 2, block: 10n }, [{ token, amount: 5n }])

  await setHoldings(database.pool, { chainId: 1, block }, [{ token, amount: 7n }])

  expect([await holding(1, token), await holding(2, token)]).toEqual([held, 5n])
})
