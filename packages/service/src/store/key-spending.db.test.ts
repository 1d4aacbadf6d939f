import { beforeEach, expect, test } from 'vitest'
import { insertTestAccount, useTestDatabase } from '../../test/support/database.ts'
import { readSpentCents, spendOfDay } from './api-keys.ts'

const database = useTestDatabase()
let keyId: string
beforeEach(async () => {
  keyId = await insertKey()
})

async function insertKey(): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into api_keys (id, account_id, hash, name) values ($1, $2, sha256('key'), 'key') returning id`,
    [crypto.randomUUID(), await insertTestAccount(database.pool)],
  )
  return rows[0]?.id ?? ''
}

const spend = (cents: bigint) => spendOfDay(database.pool, { keyId, cents, maxCents: 100n })
const spent = () => readSpentCents(database.pool, keyId)

test('the first swap of a key is refused if it alone exceeds the limit of the day', async () => {
  expect(await spend(101n)).toBe(false)
  expect(await spent()).toBe(0n)
  expect(await spend(100n)).toBe(true)
})

test('the swaps of a day reach the limit, and do not exceed it', async () => {
  expect(await spend(60n)).toBe(true)
  expect(await spend(41n)).toBe(false)
  expect(await spend(40n)).toBe(true)
  expect(await spend(1n)).toBe(false)
  expect(await spent()).toBe(100n)
})

test('a key does not use the limit of another', async () => {
  await spend(100n)
  keyId = await insertKey()

  expect(await spent()).toBe(0n)
  expect(await spend(100n)).toBe(true)
})

test('the next day has a limit of its own', async () => {
  await spend(100n)
  await database.pool.query('update key_spending set day = day - 1 where key_id = $1', [keyId])

  expect(await spent()).toBe(0n)
  expect(await spend(70n)).toBe(true)
  expect(await spent()).toBe(70n)
})
