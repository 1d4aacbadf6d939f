import { expect, test } from 'vitest'
import { createMeasure } from './measured.ts'

const block = (number: number, seconds: number) => ({ number: BigInt(number), seconds })

test('nothing is known before something was measured', () => {
  expect(createMeasure().measured()).toEqual({})
})

test('a chain of four blocks a second is measured by whole seconds', () => {
  const measure = createMeasure()
  for (let second = 0; second <= 60; second += 1)
    measure.note(block(second * 4, 1_000 + second), block(0, 1_000 + second - 800))
  expect(measure.measured()).toEqual({ finalitySeconds: 800, blockMs: 250 })
})

test('one of twenty may be slower without a word; two are told', () => {
  const measure = createMeasure()
  for (let turn = 1; turn <= 19; turn += 1) measure.note(block(turn, turn), block(0, turn - 4))
  measure.note(block(20, 20), block(0, -40))
  expect(measure.measured().finalitySeconds).toBe(4)

  measure.note(block(21, 21), block(0, -40))
  expect(measure.measured().finalitySeconds).toBe(60)
})

test('a span that a reorg cut is not measured', () => {
  const measure = createMeasure()
  measure.note(block(100, 1_000), block(90, 990))
  measure.note(block(95, 1_001), block(90, 990))
  measure.note(block(105, 1_011), block(90, 990))
  expect(measure.measured().blockMs).toBe(1_000)
})

test('what was measured more than ten minutes ago is forgotten', () => {
  const measure = createMeasure()
  measure.note(block(1, 0), block(0, -500))
  measure.note(block(2, 700), block(1, 690))
  expect(measure.measured().finalitySeconds).toBe(10)
})
