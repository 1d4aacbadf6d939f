import { expect, test } from 'vitest'
import { createConnectionSlots } from './connection-slots.ts'

/** Slots of an account with 100, of which other processes leave this many at each question. */
function createLeased(...left: number[]) {
  const asked: string[] = []
  const lease = async (accountId: string, want: number) => {
    if (asked.push(`${accountId} ${want}`) > 9) throw new Error('Asked without end')
    return Math.min(want, left.shift() ?? 100)
  }
  const slots = createConnectionSlots({ maxHeldPerAccount: 100, lease })
  /** Holds so many more, without a question. */
  const hold = (count: number) => {
    for (let index = 0; index < count; index += 1) expect(slots.acquire('a')).toBeUndefined()
  }
  const release = (count: number) => {
    for (let index = 0; index < count; index += 1) slots.release('a')
  }
  return { slots, asked, hold, release }
}

const refused = expect.objectContaining({ code: 'RATE_LIMITED' })

test('an account has its own limit, and the process one for all', () => {
  const slots = createConnectionSlots({ maxHeldPerAccount: 2, maxHeld: 3 })
  for (const account of ['a', 'a', 'b']) expect(slots.acquire(account)).toBeUndefined()

  expect(() => slots.acquire('a')).toThrow(refused)
  expect(() => slots.acquire('c')).toThrow(refused)
  expect(slots.count()).toBe(3)
  slots.release('a')
  expect(slots.count()).toBe(2)
  expect(slots.acquire('a')).toBeUndefined()
  slots.release('b')
  expect(() => slots.acquire('a')).toThrow(refused)
})

test('without other processes all slots of an account are its own', () => {
  const slots = createConnectionSlots({ maxHeldPerAccount: 30 })

  for (let index = 0; index < 30; index += 1) expect(slots.acquire('a')).toBeUndefined()
  expect(() => slots.acquire('a')).toThrow(refused)
})

test('a small limit needs no lease', () => {
  const slots = createConnectionSlots({ maxHeldPerAccount: 2, lease: async () => 2 })

  for (let index = 0; index < 2; index += 1) expect(slots.acquire('a')).toBeUndefined()
  expect(() => slots.acquire('a')).toThrow(refused)
})

test('twenty are held without a lease, and fifty more are leased at a time, up to the limit', async () => {
  const { slots, asked, hold } = createLeased()
  hold(20)
  await slots.acquire('a')
  hold(49)
  await slots.acquire('a')
  hold(29)

  expect(() => slots.acquire('a')).toThrow(refused)
  expect(asked).toEqual(['a 70', 'a 100'])
  expect(slots.count()).toBe(100)
})

test('callers at once share one lease, and one that comes meanwhile waits for it', async () => {
  const { slots, asked, hold } = createLeased()
  hold(20)
  const early = [slots.acquire('a'), slots.acquire('a')]
  await Promise.resolve()
  await Promise.all([...early, slots.acquire('a')])

  expect([asked, slots.count()]).toEqual([['a 70'], 23])
})

test('a caller is refused if other processes hold the rest, and another account is not', async () => {
  const { slots, asked, hold, release } = createLeased(20, 0)
  hold(20)

  await expect(slots.acquire('a')).rejects.toEqual(refused)
  await expect(slots.acquire('a')).rejects.toEqual(refused)
  expect(slots.acquire('b')).toBeUndefined()
  release(1)
  hold(1)
  expect([asked, slots.count()]).toEqual([['a 70', 'a 70'], 21])
})

test('a lease of fewer than are needed is asked for again', async () => {
  const { slots, asked, hold } = createLeased(21, 22)
  hold(20)

  await Promise.all([slots.acquire('a'), slots.acquire('a')])

  expect([asked, slots.count()]).toEqual([['a 70', 'a 71'], 22])
})

test('a caller that comes while the lease is renewed asks for its own slots', async () => {
  const { slots, asked, hold } = createLeased()
  hold(20)
  await slots.acquire('a')
  hold(49)

  await Promise.all([slots.renew(), slots.acquire('a')])

  expect([asked, slots.count()]).toEqual([['a 70', 'a 70', 'a 100'], 71])
})

test('a slot that is released during a refused lease is used', async () => {
  const { slots, hold, release } = createLeased(20)
  hold(20)
  const waiting = slots.acquire('a')
  release(1)
  await waiting

  expect(slots.count()).toBe(20)
})

test('a caller that waits for a lease is counted although all others have left', async () => {
  const { slots, hold, release } = createLeased()
  hold(20)
  const waiting = slots.acquire('a')
  release(20)
  await waiting
  release(1)
  await slots.renew()

  hold(20)
  expect(slots.acquire('a')).toBeInstanceOf(Promise)
})

test.each([
  [60, 'a 100'],
  [30, 'a 80'],
  [20, 'a 0'],
  [0, 'a 0'],
])('of a hundred leased slots %i are held: the process renews %s', async (held, renewed) => {
  const { slots, asked, hold, release } = createLeased()
  hold(20)
  await slots.acquire('a')
  hold(49)
  await slots.acquire('a')
  hold(29)
  slots.acquire('b')
  release(100 - held)
  asked.splice(0)

  await slots.renew()

  expect(asked).toEqual([renewed])
  hold(Math.max(20, Number(renewed.slice(2))) - held)
  expect(slots.count()).toBe(1 + Math.max(20, Number(renewed.slice(2))))
})

test('a closing process gives back what it has leased', async () => {
  const { slots, asked, hold } = createLeased()
  hold(20)
  slots.acquire('b')
  await slots.acquire('a')

  await slots.close()

  expect(asked).toEqual(['a 70', 'a 0'])
})
