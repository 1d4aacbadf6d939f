import type { Instruction } from '@solana/kit'
import { createBatch, createFuzzer, type Fuzzer } from '../fuzz/batch.ts'
import { findDifference, predictCase, toInstruction } from '../fuzz/compare.ts'
import type { Call } from '../model/bank.ts'
import type { Verdict } from '../model/escrow.ts'
import { bytesOf } from '../transaction.ts'

type Case = { call: Call; instruction: Instruction; verdict: Verdict }
type Batch = { seconds: bigint; cases: Case[] }

/** Cases with the verdicts of the model, for all mutants. */
export type Suite = { fuzzer: Fuzzer; batches: Batch[] }

export async function createSuite(batchCount: number): Promise<Suite> {
  const fuzzer = await createFuzzer()
  const { universe } = fuzzer
  const batches = Array.from({ length: batchCount }, (_, seed) => {
    const { seconds, calls } = createBatch(fuzzer, seed)
    const cases = calls.map((call) => ({
      call,
      instruction: toInstruction(universe.chain, call),
      verdict: predictCase(universe, call, seconds),
    }))
    return { seconds, cases }
  })
  return { fuzzer, batches }
}

/** The first difference that a program shows, by its loader or a case; undefined if it passes. */
export function findFailure({ fuzzer, batches }: Suite, elf: Uint8Array): string | undefined {
  const { chain } = fuzzer.universe
  try {
    chain.svm.addProgram(bytesOf(chain.program), elf)
  } catch (error) {
    return `refused by the loader: ${error instanceof Error ? error.message : error}`
  }
  for (const { seconds, cases } of batches) {
    chain.setTime(seconds)
    for (const { call, instruction, verdict } of cases) {
      const outcome = chain.run(instruction)
      const difference = findDifference(fuzzer.universe, { call, verdict, outcome })
      if (difference !== undefined) return difference
    }
  }
  return undefined
}
