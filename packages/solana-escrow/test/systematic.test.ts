import { describe, expect, it } from 'vitest'
import { SWEEP_MARGIN_SECONDS } from '../src/accounts.ts'
import { createFuzzer, type Fuzzer } from './fuzz/batch.ts'
import { compareCase, predictCase } from './fuzz/compare.ts'
import { createChanges } from './fuzz/systematic.ts'
import { NOW } from './fuzz/universe.ts'
import type { Call } from './model/bank.ts'

/** One call of each instruction and token that the model accepts at the clock. */
function acceptedCalls({ universe, templates }: Fuzzer, seconds: bigint): Call[] {
  const kinds = new Map<string, Call>()
  for (const call of templates) {
    const kind = `${call.data[0]} ${call.accounts[3]?.address} ${call.accounts[4]?.address}`
    if (kinds.has(kind)) continue
    if (predictCase(universe, call, seconds) instanceof Map) kinds.set(kind, call)
  }
  return [...kinds.values()]
}

describe('the program and its model agree on every single change of an accepted call', () => {
  it.each([NOW, NOW + SWEEP_MARGIN_SECONDS + 1n])('at %i', { timeout: 300_000 }, async (seconds) => {
    const fuzzer = await createFuzzer()
    const { universe } = fuzzer
    universe.chain.setTime(seconds)
    const calls = acceptedCalls(fuzzer, seconds)

    const changed = calls.flatMap((call) => createChanges(call, universe))
    const differences = changed.flatMap((call) => compareCase(universe, call, seconds) ?? [])

    expect(changed.length).toBeGreaterThan(25_000)
    expect(differences).toEqual([])
  })
})
