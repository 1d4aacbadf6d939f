import { expect, test } from 'vitest'
import { shareOf } from './served-chain.ts'

const KEYS = ['a', 'b', 'c']
const dry =
  (...addresses: string[]) =>
  (address: string) =>
    !addresses.includes(address)

const sharesWhen = (canSend: (address: string) => boolean) =>
  KEYS.map((address) => shareOf({ active: KEYS, address, canSend }))

test('all keys with gas share the work', () => {
  expect(sharesWhen(dry())).toEqual([
    { of: 3, index: 0 },
    { of: 3, index: 1 },
    { of: 3, index: 2 },
  ])
})

test('keys with gas take over the share of a key without, and each share has exactly one key', () => {
  expect(sharesWhen(dry('b'))).toEqual([{ of: 2, index: 0 }, undefined, { of: 2, index: 1 }])
  expect(sharesWhen(dry('a', 'b'))).toEqual([undefined, undefined, { of: 1, index: 0 }])
})

test('while no key has gas, all keep their share: their transactions land once they are topped up', () => {
  expect(sharesWhen(dry(...KEYS))).toEqual(sharesWhen(dry()))
})

test('a retired key has no share', () => {
  expect(shareOf({ active: KEYS, address: 'retired', canSend: dry() })).toBeUndefined()
})
