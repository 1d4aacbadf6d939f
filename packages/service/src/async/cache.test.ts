import { expect, test } from 'vitest'
import { createMemory, createRecent } from './cache.ts'

test('a value is computed once per key, also if it is undefined, and the oldest of too many is forgotten', () => {
  const remember = createMemory<number | undefined>(2)
  const computed: string[] = []
  const ask = (key: string, value?: number) =>
    remember(key, () => {
      computed.push(key)
      return value
    })

  expect([ask('a', 1), ask('a', 2), ask('b'), ask('b', 3)]).toEqual([1, 1, undefined, undefined])
  expect(ask('c', 4)).toBe(4)
  expect([ask('b', 5), ask('a', 6)]).toEqual([undefined, 6])
  expect(computed).toEqual(['a', 'b', 'c', 'a'])
})

function createCounted(fails: (turn: number) => boolean = () => false) {
  const clock = { ms: 0 }
  let reads = 0
  const recent = createRecent(
    1_000,
    async () => {
      reads += 1
      if (fails(reads)) throw new Error('down')
      return reads
    },
    () => clock.ms,
  )
  return { clock, recent }
}

test('requests within the time share one answer, and later ones get a new one', async () => {
  const { clock, recent } = createCounted()

  expect(await Promise.all([recent.read(), recent.read()])).toEqual([1, 1])
  clock.ms = 1_000
  expect(await recent.read()).toBe(2)
})

test('a forgotten value is read again', async () => {
  const { recent } = createCounted()
  await recent.read()
  recent.forget()

  expect(await recent.read()).toBe(2)
})

test('a failure is reported to its caller, and the next caller reads again', async () => {
  const { recent } = createCounted((turn) => turn === 1)

  await expect(recent.read()).rejects.toThrow('down')
  expect(await recent.read()).toBe(2)
})
