import { expect, test } from 'vitest'
import { createMeasure } from './pace.ts'

const block = (number: number, seconds: number) => ({ number: BigInt(number), seconds })

test('no value before the first measurement', () => {
  expect(createMeasure(250).measured()).toEqual({})
})

test('block times of a chain with four blocks a second are measured by whole seconds', () => {
  const measure = createMeasure(250)
  for (let second = 0; second <= 60; second += 1)
    measure.note(block(3_200 + second * 4, 1_000 + second), block(second * 4, 1_000 + second - 800))
  expect(measure.measured()).toEqual({ finalitySeconds: 800, blockMs: 250 })
})

test('one slow finality out of twenty is ignored, and two are reported', () => {
  const measure = createMeasure(1_000)
  const at = (turn: number, lag: number) =>
    measure.note(block(1_000 + turn, turn * 10), block(turn, turn * 10 - lag))
  for (let turn = 1; turn <= 18; turn += 1) at(turn, 4)
  at(19, 60)
  at(20, 4)
  expect(measure.measured().finalitySeconds).toBe(4)

  at(21, 60)
  at(22, 4)
  expect(measure.measured().finalitySeconds).toBe(60)
})

test('blocks that were late within the first two minutes are no slow finality, and later they are', () => {
  const measure = createMeasure(1_000)
  const at = (second: number, lag: number) =>
    measure.note(block(1_000 + second, second), block(second, second - lag))
  for (let second = 0; second < 120; second += 1) at(second, second % 10 === 5 ? 5 : 3)
  expect(measure.measured().finalitySeconds).toBe(3)

  at(120, 3)
  expect(measure.measured().finalitySeconds).toBe(5)
})

test('a single late block is no stall', () => {
  const measure = createMeasure(1_000)
  const at = (second: number, lag: number) =>
    measure.note(block(1_000 + second, second), block(second, second - lag))
  for (let second = 0; second < 200; second += 1) at(second, 3)

  at(200, 5)

  expect(measure.measured().finalitySeconds).toBe(3)
})

test('a stall is reported while it lasts, by the newest lags', () => {
  const measure = createMeasure(2_000)
  for (let turn = 1; turn <= 100; turn += 1)
    measure.note(block(450 + turn, 900 + turn * 2), block(turn, turn * 2))
  expect(measure.measured().finalitySeconds).toBe(900)

  for (const later of [0, 1, 2]) measure.note(block(2_351 + later, 4_702 + later * 2), block(100, 200))

  expect(measure.measured().finalitySeconds).toBe(4_504 - 12)
})

test('reading a final block a few seconds later does not increase its lag', () => {
  const measure = createMeasure(400)
  for (let slot = 0; slot <= 30; slot += 1) measure.note(block(32 + slot, 13 + slot * 0.4), block(0, 0))
  expect(measure.measured().finalitySeconds).toBe(13)
})

test('a pause in block production is no lag', () => {
  const measure = createMeasure(1_000)
  measure.note(block(10, 1_000), block(7, 997))
  measure.note(block(11, 5_000), block(8, 998))
  measure.note(block(12, 5_001), block(9, 999))
  expect(measure.measured().finalitySeconds).toBe(6)
})

test('an interval interrupted by a reorg is not measured', () => {
  const measure = createMeasure(1_000)
  measure.note(block(100, 1_000), block(90, 990))
  measure.note(block(95, 1_001), block(90, 990))
  measure.note(block(105, 1_011), block(90, 990))
  expect(measure.measured().blockMs).toBe(1_000)
})

test('lags older than ten minutes are dropped', () => {
  const measure = createMeasure(1_000)
  measure.note(block(1_000, 0), block(0, -500))
  measure.note(block(1_600, 600), block(1_590, 590))
  expect(measure.measured().finalitySeconds).toBe(10)
})

test('of many lags the last 600 count', () => {
  const measure = createMeasure(1_000)
  for (let turn = 1; turn <= 700; turn += 1)
    measure.note(block(1_000 + turn, turn / 2), block(turn, turn / 2 - (turn <= 100 ? 60 : 4)))
  expect(measure.measured().finalitySeconds).toBe(4)
})

test('a block time is measured over at least ten seconds, since timestamps are whole seconds', () => {
  const measure = createMeasure(400)
  for (let slot = 0; slot <= 100; slot += 1) measure.note(block(slot, Math.floor(slot * 0.4)), block(0, 0))
  expect(measure.measured().blockMs).toBe(400)
})

test('a chain that becomes slower has the block time since the last measurement', () => {
  const measure = createMeasure(1_000)
  for (const [number, seconds] of [[0, 0] as const, [10, 10] as const, [12, 20] as const])
    measure.note(block(number, seconds), block(0, 0))
  expect(measure.measured().blockMs).toBe(5_000)
})

test('another block of the same number has no block time', () => {
  const measure = createMeasure(12_000)
  measure.note(block(100, 1_000), block(90, 880))
  measure.note(block(100, 1_012), block(90, 880))
  expect(measure.measured().blockMs).toBeUndefined()
})
