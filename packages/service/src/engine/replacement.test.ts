import { describe, expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import type { Heads, Refusal, Replacement, ReplacementOffers, Sent } from '../chains/chain.ts'
import { type Fees, offerReplacements } from '../chains/evm/fees.ts'
import type { AttemptSwap, Role } from '../store/attempts.ts'
import type { SwapState } from '../swap/lifecycle.ts'
import {
  chooseReplacement,
  findStuck,
  isBroadcastAgain,
  isDue,
  policyOf,
  type ReplacementPolicies,
  type ReplacementPolicy,
  rebroadcastMs,
} from './replacement.ts'

const sentAs = (fields: Partial<Sent> = {}) => {
  const sent = { id: 'a', sentAtBlock: 10n, sentAtSeconds: 100, replacement: 0, isBurn: false }
  return { ...sent, ...fields } as Sent
}
const headAt = (number: bigint, seconds: number) => ({ head: { number, seconds } }) as Heads

describe('the policy of a transaction', () => {
  type Row = [
    role: Role,
    states: SwapState[],
    claimable: boolean | undefined,
    policy: ReplacementPolicy | undefined,
  ]
  test.each<Row>([
    ['lock', ['locking'], false, 'quotedFee'],
    ['lock', ['locking', 'failed'], false, 'quotedFee'],
    ['lock', ['failed'], true, 'cancel'],
    ['lock', ['delivering'], false, 'anyFee'],
    ['deliver', ['delivering'], true, 'quotedFee'],
    ['deliver', ['delivering'], false, 'cancel'],
    ['deliver', ['delivering'], undefined, undefined],
    ['deliver', ['delivering', 'refundDecided'], true, 'cancel'],
    ['deliver', ['delivering', 'refundDecided'], undefined, 'cancel'],
    ['deliver', ['settled'], false, 'anyFee'],
    ['deliver', ['settled', 'delivering'], true, 'anyFee'],
    ['claim', ['claiming'], false, 'quotedFee'],
    ['topup', [], false, 'quotedFee'],
  ])('%s for %j, claimable: %s: %s', (role, states, claimable, policy) => {
    const swaps = states.map((state) => ({ state }) as AttemptSwap)

    expect(policyOf(role, swaps, () => claimable)).toBe(policy)
  })

  test.each<[ReplacementPolicy | undefined, boolean]>([
    ['anyFee', true],
    ['quotedFee', true],
    ['cancel', false],
    [undefined, false],
  ])('%s: broadcast again: %s', (policy, isAgain) => {
    expect(isBroadcastAgain(policy)).toBe(isAgain)
  })
})

test('a chain whose nodes keep no transactions gets them more often', () => {
  expect(rebroadcastMs(false)).toBeLessThan(rebroadcastMs(true))
})

describe('of the unmined transactions', () => {
  type Row = [
    Refusal | undefined,
    ReplacementPolicy | undefined,
    { isUnwanted: boolean; isRefused: boolean } | undefined,
  ]
  test.each<Row>([
    [undefined, undefined, undefined],
    [undefined, 'quotedFee', undefined],
    [undefined, 'cancel', { isUnwanted: true, isRefused: false }],
    ['underpriced', 'anyFee', { isUnwanted: false, isRefused: true }],
    ['authority', undefined, { isUnwanted: true, isRefused: true }],
    ['unfunded', undefined, undefined],
  ])('a younger one, refused as %s, with policy %s, is stuck: %j', (refusal, policy, stuck) => {
    const [oldest, younger] = [sentAs({ id: 'oldest' }), sentAs({ id: 'younger' })]
    const policies: ReplacementPolicies = new Map([['younger', policy]])

    const found = findStuck([oldest, younger], policies, ({ id }) => (id === 'younger' ? refusal : undefined))

    expect(found).toEqual([
      { attempt: oldest, isUnwanted: false, isRefused: false },
      ...(stuck ? [{ attempt: younger, ...stuck }] : []),
    ])
  })
})

describe('a stuck transaction is due', () => {
  type Row = [string, Heads, { isUnwanted?: boolean; isRefused?: boolean }, boolean]
  test.each<Row>([
    ['not before three seconds', headAt(16n, 101), {}, false],
    ['not before three blocks', headAt(11n, 112), {}, false],
    ['after both', headAt(13n, 103), {}, true],
    ['at once if every node refused it', headAt(10n, 100), { isRefused: true }, true],
    ['at once if it is unwanted', headAt(10n, 100), { isUnwanted: true }, true],
  ])('%s', (_, heads, flags, due) => {
    const stuck = { attempt: sentAs(), isUnwanted: false, isRefused: false, ...flags }

    expect(isDue(stuck, heads, { isOutbid: false })).toBe(due)
  })

  test.each([
    [6, false, true],
    [7, false, false],
    [7, true, true],
  ])('after %i fee bumps, outbid: %s: %s', (replacement, isOutbid, due) => {
    const stuck = { attempt: sentAs({ replacement }), isUnwanted: true, isRefused: true }

    expect(isDue(stuck, headAt(13n, 103), { isOutbid })).toBe(due)
  })
})

describe('the replacement', () => {
  const named = (name: string) => stub<Replacement>({ request: { name } })
  const offers = { bounded: named('bounded'), unbounded: named('unbounded'), noop: named('noop') }
  const without = (...names: ('bounded' | 'unbounded')[]): Omit<ReplacementOffers, 'isOutbid'> => ({
    ...offers,
    ...Object.fromEntries(names.map((name) => [name, undefined])),
  })

  type Row = [ReplacementPolicy, Partial<Sent>, Omit<ReplacementOffers, 'isOutbid'>, keyof typeof offers]
  test.each<Row>([
    ['quotedFee', {}, offers, 'bounded'],
    ['quotedFee', {}, without('bounded'), 'noop'],
    ['anyFee', {}, without('bounded'), 'unbounded'],
    ['anyFee', {}, without('bounded', 'unbounded'), 'noop'],
    ['cancel', {}, offers, 'noop'],
    ['anyFee', { isBurn: true }, offers, 'noop'],
    ['anyFee', { replacement: 5 }, offers, 'unbounded'],
    ['anyFee', { replacement: 6 }, offers, 'noop'],
  ])('by policy %s of %j', (policy, sent, given, chosen) => {
    expect(chooseReplacement(sentAs(sent), policy, given)).toBe(offers[chosen])
  })
})

describe('while nothing lands', () => {
  const feesOf = (maxFeePerGas: bigint): Fees => ({
    maxFeePerGas: String(maxFeePerGas),
    maxPriorityFeePerGas: '1',
  })
  const request = { to: '0x01', data: '0x02', gas: 60_000 }

  /** The transactions of one nonce, with the chain's fee at each look. */
  function replaceInVain(asked: readonly bigint[]): Sent[] {
    const signed = [sentAs({ request, terms: feesOf(1_000n) })]
    for (const now of asked) {
      const attempt = signed.at(-1) as Sent
      const offers = offerReplacements(attempt, feesOf(now))
      if (!isDue({ attempt, isUnwanted: false, isRefused: false }, headAt(13n, 103), offers)) continue
      const next = chooseReplacement(attempt, 'quotedFee', offers)
      signed.push({ ...attempt, ...next, replacement: attempt.replacement + 1 })
    }
    return signed
  }
  const offerOf = ({ terms }: Sent) => BigInt((terms as Fees).maxFeePerGas)
  const tipOf = ({ terms }: Sent) => BigInt((terms as Fees).maxPriorityFeePerGas)
  const pairsOf = (signed: readonly Sent[]) =>
    signed.slice(1).map((after, index) => [signed[index] as Sent, after] as const)

  test("a transaction is cancelled after six fee bumps, and then offers no more than the chain's fee", () => {
    const signed = replaceInVain(new Array<bigint>(500).fill(1_000n))

    expect(signed.map(({ isBurn }) => isBurn)).toEqual([...new Array<boolean>(7).fill(false), true])
    expect(offerOf(signed.at(-1) as Sent)).toBeLessThan(2_500n)
  })

  test("a cancelled one follows the chain's fee, by steps that nodes accept", () => {
    const calm = new Array<bigint>(20).fill(1_000n)
    const storm = Array.from({ length: 100 }, (_, look) => 1_000n + 100n * BigInt(look))
    const signed = replaceInVain([...calm, ...storm, ...storm])

    const offers = signed.map(offerOf)
    expect(offers.at(-1)).toBeGreaterThanOrEqual(storm.at(-1) ?? 0n)
    expect(offers.at(-1)).toBeLessThan(((storm.at(-1) ?? 0n) * 5n) / 4n)
    for (const [before, after] of pairsOf(signed)) {
      expect(offerOf(after) * 8n).toBeGreaterThan(offerOf(before) * 9n)
      expect(tipOf(after) * 8n).toBeGreaterThan(tipOf(before) * 9n)
    }
  })
})
