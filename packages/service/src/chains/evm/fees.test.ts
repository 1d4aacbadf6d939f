import { describe, expect, test } from 'vitest'
import type { Block, Heads, Sent } from '../chain.ts'
import { boundFees, type Fees, planReplacement } from './fees.ts'

const feesOf = (maxFeePerGas: bigint, bound?: bigint): Fees => ({
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: '1',
  ...(bound !== undefined && { bound: String(bound) }),
})

test('terms are within a bound or there are none', () => {
  expect(boundFees(feesOf(100n), 100n)).toEqual(feesOf(100n, 100n))
  expect(boundFees(feesOf(101n), 100n)).toBeUndefined()
})

describe('a transaction that no block includes', () => {
  const block: Block = { number: 10n, height: 10n, hash: '0x10', seconds: 0 }
  const heads: Heads = { head: block, accept: block, settle: block, hard: block }
  const request = { to: '0x01', data: '0x02', gas: 60_000 }
  const replace = (terms: Fees, current: Fees, options?: { isOwed: boolean }) =>
    planReplacement(
      { request, terms, sentAtBlock: 7n, replacement: 0, isBurn: false } as unknown as Sent,
      heads,
      current,
      options,
    )

  test('offers more up to its bound, which stays', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(900n))
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ ...feesOf(900n, 1_000n), maxPriorityFeePerGas: '2' })
  })

  test('gives its nonce back when the chain asks for more than its bound', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(replacement).toMatchObject({ isBurn: true, request: { data: '0x', gas: 21_000 } })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })

  test('offers whatever it takes without a bound', () => {
    expect(replace(feesOf(100n), feesOf(1_000_000n))).toMatchObject({
      ...{ isBurn: false, request, terms: { maxFeePerGas: '1000000' } },
    })
  })

  test('leaves its bound behind once it is owed', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n), { isOwed: true })
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })
})
