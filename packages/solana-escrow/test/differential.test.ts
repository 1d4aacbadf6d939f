import { describe, expect, it } from 'vitest'
import { BATCH_CASES, createBatch, createFuzzer, runBatch } from './fuzz/batch.ts'
import { predictCase } from './fuzz/compare.ts'

// With those of systematic.test.ts more than 200,000.
const CASES = 150_000
const PARTS = 3

describe('the program and its model', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part))(
    'agree on verdict, balances and data of every generated case, part %i',
    { timeout: 300_000 },
    async (part) => {
      const fuzzer = await createFuzzer()
      const batches = CASES / PARTS / BATCH_CASES
      const seeds = Array.from({ length: batches }, (_, index) => part * batches + index)

      const differences = seeds.flatMap((seed) => runBatch(fuzzer, seed))

      expect(differences).toEqual([])
    },
  )

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
