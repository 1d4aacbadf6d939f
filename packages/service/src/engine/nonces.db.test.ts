import { expect, test } from 'vitest'
import { useTestDatabase } from '../../test/support/database.ts'
import { raiseNonce } from '../store/attempts.ts'
import { createNonces } from './nonces.ts'

const database = useTestDatabase()

/** A key whose next nonce is 3. */
async function newKey() {
  const key = { chainId: 31_337, address: `key ${crypto.randomUUID()}` }
  await raiseNonce(database.pool, { ...key, atLeast: 3 })
  return { key, nonces: createNonces(database.pool, key) }
}
const keep = async (nonce: number) => nonce

test('a key takes one nonce after the other, and works wait for each other', async () => {
  const { nonces } = await newKey()

  expect(await Promise.all([nonces.take(keep), nonces.take(keep), nonces.take(keep)])).toEqual([3, 4, 5])
})

test('a key takes none before its nonce was read from the chain', async () => {
  const nonces = createNonces(database.pool, { chainId: 31_337, address: 'unknown' })

  expect(await nonces.take(keep)).toBeUndefined()
  await nonces.raise(7)
  expect(await nonces.take(keep)).toBe(7)
})

test.each([
  ['is outdated', async () => undefined],
  ['fails', () => Promise.reject(new Error('down'))],
])('after work that %s the nonce is read again: another worker may have taken it', async (_, work) => {
  const { key, nonces } = await newKey()
  await nonces.take(keep)
  await nonces.take<number>(work).catch(() => {})
  await raiseNonce(database.pool, { ...key, atLeast: 9 })

  expect(await nonces.take(keep)).toBe(9)
})

test('a nonce that the chain has passed is not taken, and a chain that is behind changes nothing', async () => {
  const { nonces } = await newKey()
  await nonces.take(keep)
  await nonces.raise(2)
  expect(await nonces.take(keep)).toBe(4)

  await nonces.raise(8)
  expect(await nonces.take(keep)).toBe(8)
})
