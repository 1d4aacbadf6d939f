import { expect, test } from 'vitest'
import { createRecent } from './cache.ts'

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
