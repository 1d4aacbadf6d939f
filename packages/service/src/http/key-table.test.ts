import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { plainKey } from '../../test/support/keys.ts'
import type { ActiveKey } from '../store/api-keys.ts'
import { createApiKey, isWholeKey, parseKeyId } from './api-key.ts'
import { createKeyTable } from './key-table.ts'

function createWorld() {
  const active = new Map<string, ActiveKey>()
  const findActiveKeys = vi.fn(async () => [...active.values()])
  const table = createKeyTable({ findActiveKeys, minRefreshMs: 50, onError: vi.fn() })
  const issue = () => {
    const { id, key, hash } = createApiKey('local')
    active.set(id, { id, accountId: 'acc_1', hash, ...plainKey })
    return { id, key }
  }
  return { active, findActiveKeys, table, issue }
}

test('a key has a prefix for scanners, an id, 43 secret characters and a checksum', () => {
  const { key, id, hash } = createApiKey('live')

  expect(key).toMatch(/^gsk_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
  expect([parseKeyId(key), isWholeKey(key)]).toEqual([id, true])
  expect(hash).toHaveLength(32)
})

test('a key with one changed character is not well-formed', () => {
  const { key } = createApiKey('live')
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0aZ_'), (index, other) => {
      const changed = key.slice(0, index) + other + key.slice(index + 1)

      expect(parseKeyId(changed) !== undefined && isWholeKey(changed)).toBe(changed === key)
    }),
  )
})

test('a known key is answered synchronously, without a read', async () => {
  const { table, issue, findActiveKeys } = createWorld()
  const { key, id } = issue()
  await table.refresh()

  expect(table.authenticate(key)).toMatchObject({ keyId: id, accountId: 'acc_1' })
  expect(findActiveKeys).toHaveBeenCalledTimes(1)
})

test('a new key works at once', async () => {
  const { table, issue } = createWorld()
  await table.refresh()
  const first = issue()
  expect(await table.authenticate(first.key)).toMatchObject({ keyId: first.id })
  const second = issue()

  expect(await table.authenticate(second.key)).toMatchObject({ keyId: second.id })
})

test('a thousand invented keys cost at most two reads', async () => {
  const { table, findActiveKeys } = createWorld()
  await table.refresh()
  findActiveKeys.mockClear()
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, () => table.authenticate(createApiKey('live').key)),
  )

  expect(answers.every((answer) => answer === undefined)).toBe(true)
  expect(findActiveKeys.mock.calls.length).toBeLessThanOrEqual(2)
})

test('a well-formed key with a known id and another secret is rejected without a read', async () => {
  const { table, issue, findActiveKeys } = createWorld()
  const { key, id } = issue()
  await table.refresh()
  const other = createApiKey('local')
  const forged = other.key.replace(other.id, id)

  expect(await table.authenticate(forged)).toBeUndefined()
  expect(await table.authenticate(key.replace('local', 'live'))).toBeUndefined()
  expect(findActiveKeys).toHaveBeenCalledTimes(1)
})

test('a key is compared by its digest, in the same time whether or not its id is known', async () => {
  const { table, issue } = createWorld()
  const { id } = issue()
  await table.refresh()
  const stranger = createApiKey('local').key
  const wrong = [stranger.replace(/(?<=gsk_local_).{12}/, id), stranger.slice(0, -1), 'nonsense']
  const compare = vi.spyOn(crypto, 'timingSafeEqual')
  syncBuiltinESMExports()

  for (const key of wrong) expect(table.authenticate(key)).toBeUndefined()

  const compared = compare.mock.calls.flat().map(({ byteLength }) => byteLength)
  compare.mockRestore()
  syncBuiltinESMExports()
  expect(compared).toEqual(wrong.flatMap(() => [32, 32]))
})

test('a revoked key is rejected from the next read on', async () => {
  const { active, table, issue } = createWorld()
  const { key, id } = issue()
  await table.refresh()
  active.delete(id)
  await table.refresh()

  expect(await table.authenticate(key)).toBeUndefined()
})
