import type { Address, Instruction } from '@solana/kit'
import type { Chain, Outcome } from '../chain.ts'
import { type Call, type Held, NOTHING } from '../model/bank.ts'
import { predict, type Verdict } from '../model/escrow.ts'
import type { Universe } from './universe.ts'

/** The first difference between the chain and the model; undefined if there is none. The accounts are as before. */
export function compareCase(universe: Universe, call: Call, seconds: bigint): string | undefined {
  const verdict = predictCase(universe, call, seconds)
  const outcome = universe.chain.run(toInstruction(universe.chain, call))
  return findDifference(universe, { call, verdict, outcome })
}

export function predictCase({ chain, accounts }: Universe, call: Call, seconds: bigint): Verdict {
  return predict({ program: chain.program, seconds, rentOf: chain.rent }, accounts, call)
}

export function toInstruction({ program }: Chain, { accounts, data }: Call): Instruction {
  return { programAddress: program, accounts: [...accounts], data }
}

type Ran = { call: Call; verdict: Verdict; outcome: Outcome }

export function findDifference(universe: Universe, { call, verdict, outcome }: Ran): string | undefined {
  if (!outcome.ok) {
    const code = typeof verdict === 'object' && 'code' in verdict ? verdict.code : undefined
    const isOurs = outcome.code !== undefined && outcome.code >= 7000
    if (verdict === 'refused' ? !isOurs : code !== undefined && code === outcome.code) return undefined
    return `refused with ${outcome.code ?? outcome.explain?.()}, expected ${describe(verdict)}`
  }
  const found = verdict instanceof Map ? findWrongAccount(universe, call, verdict) : undefined
  restore(universe, call)
  return verdict instanceof Map ? found : `accepted, expected ${describe(verdict)}`
}

function describe(verdict: Verdict): string {
  if (verdict === 'refused') return 'a refusal by another program'
  return 'code' in verdict ? `refused with ${verdict.code}` : 'success'
}

function findWrongAccount(
  { chain, accounts }: Universe,
  call: Call,
  changed: ReadonlyMap<Address, Held>,
): string | undefined {
  for (const { address } of call.accounts) {
    const expected = changed.get(address) ?? accounts.get(address)
    const wanted = expected && expected.lamports > 0n ? expected : undefined
    const actual = chain.get(address)
    if (isSame(wanted ?? NOTHING, actual ?? NOTHING)) continue
    return `${address} has ${actual?.lamports} lamports, expected ${wanted?.lamports}, or other data`
  }
  return undefined
}

function isSame(a: Held, b: Held): boolean {
  return a.lamports === b.lamports && a.owner === b.owner && Buffer.compare(a.data, b.data) === 0
}

function restore({ chain, accounts }: Universe, call: Call): void {
  for (const { address } of call.accounts) {
    const account = accounts.get(address) ?? NOTHING
    if (!isSame(account, chain.get(address) ?? NOTHING)) chain.set(address, account)
  }
}
