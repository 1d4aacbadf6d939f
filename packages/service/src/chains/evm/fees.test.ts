import { zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Block, Heads, Sent, Worth } from '../chain.ts'
import { boundFees, type Fees, planReplacement } from './fees.ts'
import { planTransfer } from './plans.ts'

const feesOf = (maxFeePerGas: bigint, bound?: bigint): Fees => ({
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: '1',
  ...(bound !== undefined && { bound: String(bound) }),
})

const pairsOf = (signed: readonly Sent[]) =>
  signed.slice(1).map((after, index) => [signed[index] as Sent, after] as const)

test('terms are within a bound or there are none', () => {
  expect(boundFees(feesOf(100n), 100n)).toEqual(feesOf(100n, 100n))
  expect(boundFees(feesOf(101n), 100n)).toBeUndefined()
})

describe('a transaction that no block includes', () => {
  const block: Block = { number: 10n, height: 10n, hash: '0x10', seconds: 0 }
  const heads: Heads = { head: block, settle: block, hard: block }
  const request = { to: '0x01', data: '0x02', gas: 60_000 }
  const stuck = { request, sentAtBlock: 7n, replacement: 0, isBurn: false } as unknown as Sent
  const replace = (terms: Fees, current: Fees, worth?: Worth) =>
    planReplacement({ ...stuck, terms }, heads, current, worth)

  /** What is signed for one nonce while nothing that is sent arrives, and the chain asks for this at each look. */
  function replaceInVain(asked: readonly bigint[], terms: Fees) {
    const signed: Sent[] = [{ ...stuck, terms }]
    for (const now of asked) {
      const newest = signed.at(-1) as Sent
      const next = planReplacement(newest, heads, feesOf(now))
      if (next) signed.push({ ...newest, ...next, replacement: newest.replacement + 1 })
    }
    return signed
  }
  const offerOf = ({ terms }: Sent) => BigInt((terms as Fees).maxFeePerGas)
  const tipOf = ({ terms }: Sent) => BigInt((terms as Fees).maxPriorityFeePerGas)

  test('offers more up to its bound, which stays', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(900n))
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ ...feesOf(900n, 1_000n), maxPriorityFeePerGas: '2' })
  })

  test('gives its nonce back when the chain asks for more than its bound', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(replacement).toMatchObject({ isBurn: true, request: { data: '0x' } })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })

  test('gives its nonce back with the gas of a plain transfer, which on a rollup pays for its bytes', () => {
    const transfer = planTransfer({ from: '0x01', to: '0x02', token: zeroAddress, amount: 1n })
    const burn = replace(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(burn).toMatchObject({ request: { gas: transfer.gas }, cost: BigInt(transfer.gas) * 1_001n })
  })

  test('is given up after six raises, and then offers no more than the chain asks for, however long it waits', () => {
    const signed = replaceInVain(new Array<bigint>(500).fill(1_000n), feesOf(1_000n))

    expect(signed.map(({ isBurn }) => isBurn)).toEqual([...new Array<boolean>(7).fill(false), true])
    expect(offerOf(signed.at(-1) as Sent)).toBeLessThan(2_500n)
  })

  test('follows the chain after it was given up, by steps that nodes take', () => {
    const calm = new Array<bigint>(20).fill(1_000n)
    const storm = Array.from({ length: 100 }, (_, look) => 1_000n + 100n * BigInt(look))
    const signed = replaceInVain([...calm, ...storm, ...storm], feesOf(1_000n))

    const offers = signed.map(offerOf)
    expect(offers.at(-1)).toBeGreaterThanOrEqual(storm.at(-1) ?? 0n)
    expect(offers.at(-1)).toBeLessThan(((storm.at(-1) ?? 0n) * 5n) / 4n)
    for (const [before, after] of pairsOf(signed)) {
      expect(offerOf(after) * 8n).toBeGreaterThan(offerOf(before) * 9n)
      expect(tipOf(after) * 8n).toBeGreaterThan(tipOf(before) * 9n)
    }
  })

  test('is raised for the tip as well after it was given up', () => {
    const last = { ...stuck, isBurn: true, replacement: 7, terms: feesOf(1_000n) }

    expect(planReplacement(last, heads, feesOf(1_000n))).toBeUndefined()
    expect(planReplacement(last, heads, { ...feesOf(900n), maxPriorityFeePerGas: '5' })).toMatchObject({
      ...{ isBurn: true, terms: { maxFeePerGas: '1126', maxPriorityFeePerGas: '5' } },
    })
  })

  test('offers whatever it takes without a bound', () => {
    expect(replace(feesOf(100n), feesOf(1_000_000n))).toMatchObject({
      ...{ isBurn: false, request, terms: { maxFeePerGas: '1000000' } },
    })
  })

  test('gives its nonce back once it is worth nothing, however cheap gas is', () => {
    expect(replace(feesOf(100n, 1_000n), feesOf(10n), 'nothing')).toMatchObject({
      ...{ isBurn: true, request: { data: '0x' }, terms: { maxFeePerGas: '113' } },
    })
  })

  test('leaves its bound behind once it is owed', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n), 'owed')
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })
})
