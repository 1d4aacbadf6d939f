import { expect, test } from 'vitest'
import { shareOf } from './key-share.ts'

const KEYS = ['a', 'b', 'c']
const dry =
  (...addresses: string[]) =>
  (address: string) =>
    !addresses.includes(address)

const sharesWhen = (hasGas: (address: string) => boolean) =>
  KEYS.map((address) => shareOf({ active: KEYS, address, hasGas }))

test('keys that all have gas share the work', () => {
  expect(sharesWhen(dry())).toEqual([
    { of: 3, index: 0 },
    { of: 3, index: 1 },
    { of: 3, index: 2 },
  ])
})

test('the part of a key without gas is taken by the others, and every part by exactly one of them', () => {
  expect(sharesWhen(dry('b'))).toEqual([{ of: 2, index: 0 }, undefined, { of: 2, index: 1 }])
  expect(sharesWhen(dry('a', 'b'))).toEqual([undefined, undefined, { of: 1, index: 0 }])
})

test('while no key has gas the work stays with all: what they sign lands once they are filled up', () => {
  expect(sharesWhen(dry(...KEYS))).toEqual(sharesWhen(dry()))
})

test('a key that is being retired has no part', () => {
  expect(shareOf({ active: KEYS, address: 'retired', hasGas: dry() })).toBeUndefined()
})
