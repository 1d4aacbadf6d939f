import { describe, expect, it } from 'vitest'
import { createBatch, createFuzzer, QUICK_SEEDS, runBatch } from './fuzz/batch.ts'
import { predictCase } from './fuzz/compare.ts'

describe('the program and its model', () => {
  // More of them: differential-rest.test.ts.
  it('agree on verdict, balances and data of 10,000 generated cases', { timeout: 300_000 }, async () => {
    const fuzzer = await createFuzzer()

    const differences = QUICK_SEEDS.flatMap((seed) => runBatch(fuzzer, seed))

    expect(differences).toEqual([])
  })

  it('are compared on every verdict: each instruction accepted, each refusal of ours, refusals by others', async () => {
    const fuzzer = await createFuzzer()

    const verdicts = Array.from({ length: 60 }, (_, seed) => {
      const { seconds, calls } = createBatch(fuzzer, seed)
      return calls.map((call) => {
        const verdict = predictCase(fuzzer.universe, call, seconds)
        if (verdict === 'refused') return verdict
        return 'code' in verdict ? String(verdict.code) : `accepted ${call.data[0]}`
      })
    })

    const codes = Array.from({ length: 20 }, (_, index) => String(7001 + index))
    const accepted = [0, 1, 2, 3, 4, 5].map((tag) => `accepted ${tag}`)
    expect([...new Set(verdicts.flat())].sort()).toEqual([...codes, ...accepted, 'refused'].sort())
  })
})
