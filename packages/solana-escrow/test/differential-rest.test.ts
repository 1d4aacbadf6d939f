import { expect, it } from 'vitest'
import { createFuzzer, FURTHER_SEEDS, runBatch } from './fuzz/batch.ts'

const PARTS = 3

it.each(Array.from({ length: PARTS }, (_, part) => part))(
  'the program and its model agree on verdict, balances and data of 140,000 further cases, part %i',
  { timeout: 300_000 },
  async (part) => {
    const fuzzer = await createFuzzer()
    const seeds = FURTHER_SEEDS.filter((seed) => seed % PARTS === part)

    const differences = seeds.flatMap((seed) => runBatch(fuzzer, seed))

    expect(differences).toEqual([])
  },
)
