import { expect, test } from 'vitest'
import { judgeFinality } from './doctor.ts'

const times = { name: 'base', configured: 100, measured: 100, preset: 100 }

test('finality within the configured time, and a configuration not below the preset, are fine', () => {
  expect(judgeFinality(times)).toEqual({ problems: [], warnings: [] })
  expect(judgeFinality({ ...times, configured: 200, preset: undefined })).toEqual({
    problems: [],
    warnings: [],
  })
})

test('slower finality warns, and beyond three times it stops the chain', () => {
  expect(judgeFinality({ ...times, measured: 300 }).warnings).toEqual([
    'base: finality takes 300 s now, configured are 100 s (hardSeconds)',
  ])
  expect(judgeFinality({ ...times, measured: 301 })).toEqual({
    problems: ['base: finality takes 301 s now, configured are 100 s (hardSeconds): the chain is not served'],
    warnings: [],
  })
})

test('a configuration below the preset warns', () => {
  expect(judgeFinality({ ...times, configured: 99, measured: 1 }).warnings).toEqual([
    'base: hardSeconds is 99, the preset has 100: inputs may be refundable too early',
  ])
})
