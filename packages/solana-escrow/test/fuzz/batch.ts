import { createChain } from '../chain.ts'
import type { Call } from '../model/bank.ts'
import { CLOCKS, createCase, createTemplates } from './cases.ts'
import { compareCase } from './compare.ts'
import { createRandom } from './random.ts'
import { createUniverse, type Universe } from './universe.ts'

export const BATCH_CASES = 500
// With those of systematic.test.ts more than 200,000 cases.
const seeds = Array.from({ length: 150_000 / BATCH_CASES }, (_, seed) => seed)
const quick = 10_000 / BATCH_CASES
export const QUICK_SEEDS = seeds.slice(0, quick)
export const FURTHER_SEEDS = seeds.slice(quick)

export type Fuzzer = { universe: Universe; templates: Call[] }

export async function createFuzzer(elf?: Uint8Array): Promise<Fuzzer> {
  const universe = await createUniverse(createChain(elf))
  return { universe, templates: await createTemplates(universe) }
}

/** Cases of one seed, which share a clock. */
export function createBatch(fuzzer: Fuzzer, seed: number): { seconds: bigint; calls: Call[] } {
  const random = createRandom(seed)
  const calls = Array.from({ length: BATCH_CASES }, () => createCase(random, fuzzer))
  return { seconds: CLOCKS[seed % CLOCKS.length] ?? 0n, calls }
}

/** The cases in which the chain and the model differ. */
export function runBatch(fuzzer: Fuzzer, seed: number): string[] {
  const { seconds, calls } = createBatch(fuzzer, seed)
  fuzzer.universe.chain.setTime(seconds)
  return calls.flatMap((call, index) => {
    const difference = compareCase(fuzzer.universe, call, seconds)
    return difference === undefined ? [] : [`seed ${seed}, case ${index}: ${difference}`]
  })
}
