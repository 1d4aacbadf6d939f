import { expect, test } from 'vitest'
import { runFuzz, SENTENCES } from './run-fuzz.ts'

const runs = 256
const depth = 500
const actions = 27

/** One campaign for all sentences. It runs while the file loads, so that it does not count towards a test's timeout. */
const finding = await runFuzz({ runs, depth, seed: '0x67656f' })

test.each(SENTENCES)('%s', (sentence) => {
  expect(finding.untrue).not.toContain(sentence)
})

test('every sequence of calls ran to its end, with every action in it', () => {
  expect(finding.failure).toBeUndefined()
  expect(finding.calls).toBe(runs * depth)
  expect(Object.keys(finding.actions)).toHaveLength(actions)
})
