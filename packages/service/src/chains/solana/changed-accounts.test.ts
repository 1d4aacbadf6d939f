import { expect, test } from 'vitest'
import { createChangedAccounts } from './custody.ts'

/** Readings of the balances of `a` and `b`, every three seconds unless another time is given. */
function open({ isRead = true } = {}) {
  let time = 0
  const { findDue, markRead } = createChangedAccounts(() => time)
  return (a: bigint, b: bigint, laterMs = 3_000): string => {
    time += laterMs
    const due = findDue([
      { address: 'a', amount: a },
      { address: 'b', amount: b },
    ])
    if (isRead) markRead(due)
    return due.join('')
  }
}

/** A reader whose accounts stayed the same until none is due. */
function openQuiet() {
  const read = open()
  for (let count = 0; count < 4; count += 1) read(1n, 1n)
  return read
}

test('a history is read in four readings, and no longer while the balances stay the same', () => {
  const read = open()

  expect(Array.from({ length: 5 }, () => read(1n, 1n))).toEqual(['ab', 'ab', 'ab', 'ab', ''])
})

test('only the history of an account that changed is read', () => {
  const read = openQuiet()

  expect([read(1n, 1n), read(2n, 1n), read(2n, 1n), read(2n, 3n)]).toEqual(['', 'a', 'a', 'ab'])
})

test('all histories are read after a minute without a change', () => {
  const read = openQuiet()

  expect([read(1n, 1n, 59_999), read(1n, 1n, 1)]).toEqual(['', 'ab'])
})

test('an account without a change is read after 20 seconds while others change', () => {
  const read = openQuiet()

  expect([read(2n, 1n, 19_999), read(3n, 1n, 1), read(4n, 1n)]).toEqual(['a', 'ab', 'a'])
})

test('a history that could not be read stays due', () => {
  const read = open({ isRead: false })

  expect(Array.from({ length: 6 }, () => read(1n, 1n)).at(-1)).toBe('ab')
})
