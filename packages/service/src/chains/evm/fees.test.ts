import { type PublicClient, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import type { SignedDelegation, Swap } from '../../model/swap.ts'
import type { Block, Heads, ReplacementPolicy, Sent } from '../chain.ts'
import { bytesOf } from './data-price.ts'
import {
  boundFees,
  claimsThatFit,
  costOf,
  createPriceReader,
  type Fees,
  fitsBlock,
  gasLimitOf,
  planReplacement,
  readFees,
  readLegCosts,
} from './fees.ts'
import { planClaim, planTransfer } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

const feesOf = (maxFeePerGas: bigint, bound?: bigint): Fees => ({
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: '1',
  ...(bound !== undefined && { bound: String(bound) }),
})

const pairsOf = (signed: readonly Sent[]) =>
  signed.slice(1).map((after, index) => [signed[index] as Sent, after] as const)

test('terms are within the bound, or undefined', () => {
  expect(boundFees(feesOf(100n), 100n)).toEqual(feesOf(100n, 100n))
  expect(boundFees(feesOf(101n), 100n)).toBeUndefined()
})

describe('an unmined transaction', () => {
  const block: Block = { number: 10n, height: 10n, hash: '0x10', seconds: 100 }
  const heads: Heads = { head: block, settle: block, hard: block }
  const request = { to: '0x01', data: '0x02', gas: 60_000 }
  const stuck = {
    request,
    sentAtBlock: 7n,
    sentAtSeconds: 97,
    replacement: 0,
    isBurn: false,
  } as unknown as Sent
  const replace = (terms: Fees, current: Fees, policy?: ReplacementPolicy) =>
    planReplacement({ ...stuck, terms }, heads, current, policy && { policy })

  /** The replacements of one nonce while nothing lands, with the chain's fee at each step. */
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

  test('is bumped up to its bound, which stays', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(900n))
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ ...feesOf(900n, 1_000n), maxPriorityFeePerGas: '2' })
  })

  test("is cancelled when the chain's fee exceeds its bound", () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(replacement).toMatchObject({ isBurn: true, request: { data: '0x' } })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })

  test('is cancelled with the gas of a plain transfer, which on a rollup pays for its bytes', () => {
    const transfer = planTransfer({ from: '0x01', to: '0x02', token: zeroAddress, amount: 1n })
    const burn = replace(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(burn).toMatchObject({ request: { gas: transfer.gas }, cost: BigInt(transfer.gas) * 1_001n })
  })

  test("is cancelled after six fee bumps, and then offers no more than the chain's fee, however long it waits", () => {
    const signed = replaceInVain(new Array<bigint>(500).fill(1_000n), feesOf(1_000n))

    expect(signed.map(({ isBurn }) => isBurn)).toEqual([...new Array<boolean>(7).fill(false), true])
    expect(offerOf(signed.at(-1) as Sent)).toBeLessThan(2_500n)
  })

  test("follows the chain's fee after it was cancelled, by steps that nodes accept", () => {
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

  test('is bumped for the tip as well after it was cancelled', () => {
    const last = { ...stuck, isBurn: true, replacement: 7, terms: feesOf(1_000n) }

    expect(planReplacement(last, heads, feesOf(1_000n))).toBeUndefined()
    expect(planReplacement(last, heads, { ...feesOf(900n), maxPriorityFeePerGas: '5' })).toMatchObject({
      isBurn: true,
      terms: { maxFeePerGas: '1126', maxPriorityFeePerGas: '5' },
    })
  })

  test('offers any fee without a bound', () => {
    expect(replace(feesOf(100n), feesOf(1_000_000n))).toMatchObject({
      isBurn: false,
      request,
      terms: { maxFeePerGas: '1000000' },
    })
  })

  test('is cancelled once it is unwanted, however cheap gas is', () => {
    expect(replace(feesOf(100n, 1_000n), feesOf(10n), 'cancel')).toMatchObject({
      isBurn: true,
      request: { data: '0x' },
      terms: { maxFeePerGas: '113' },
    })
  })

  test('drops its bound once others rely on it', () => {
    const replacement = replace(feesOf(100n, 1_000n), feesOf(1_001n), 'anyFee')
    expect(replacement).toMatchObject({ isBurn: false, request })
    expect(replacement?.terms).toEqual({ maxFeePerGas: '1001', maxPriorityFeePerGas: '2' })
  })
})

const ARBITRUM = { weiPerByte: '700', gasPerByte: '7' }
const OP_STACK = { weiPerByte: '700' }
const request = { to: '0x01', data: `0x${'11'.repeat(100)}`, gas: 60_000 }
// 200 for the signed transaction without its data.
const REQUEST_BYTES = 300n

describe('on a rollup', () => {
  test('that charges for bytes within the gas, the limit has room for twice their current cost', () => {
    const fees = { ...feesOf(100n), data: ARBITRUM }

    expect(gasLimitOf(request, fees)).toBe(60_000n + 2n * 7n * REQUEST_BYTES)
    expect(costOf(request, fees)).toBe(100n * gasLimitOf(request, fees))
  })

  test('that charges for bytes beside the gas, the sender needs the balance for both', () => {
    const fees = { ...feesOf(100n), data: OP_STACK }

    expect(gasLimitOf(request, fees)).toBe(60_000n)
    expect(costOf(request, fees)).toBe(100n * 60_000n + 700n * REQUEST_BYTES)
  })

  test.each([ARBITRUM, OP_STACK])('a bound covers gas and bytes together: %o', (data) => {
    // 420 bytes of a lock at 700 wei are 294,000 wei, for 58,500 gas: 6 wei a unit, rounded up.
    const fees = { ...feesOf(100n), data }

    expect(boundFees(fees, 106n)).toEqual({ ...fees, bound: '106' })
    expect(boundFees(fees, 105n)).toBeUndefined()
  })

  test('a transaction with an authorization has more bytes', () => {
    const authorizations = [{} as SignedDelegation]
    const fees = { ...feesOf(100n), data: ARBITRUM }

    expect(gasLimitOf({ ...request, authorizations }, fees)).toBe(gasLimitOf(request, fees) + 2n * 7n * 110n)
  })
})

describe('when bytes become ten times as expensive', () => {
  const block: Block = { number: 10n, height: 10n, hash: '0x10', seconds: 100 }
  const heads: Heads = { head: block, settle: block, hard: block }
  const before = { ...feesOf(100n), data: ARBITRUM }
  const now = { ...feesOf(100n), data: { weiPerByte: '7000', gasPerByte: '70' } }
  const stuck = {
    request,
    terms: before,
    sentAtBlock: 10n,
    sentAtSeconds: 100,
    replacement: 0,
  } as unknown as Sent

  test('a replacement has room for their current cost, with the same effect', () => {
    const replacement = planReplacement(stuck, heads, now, { isRefused: true })

    expect(replacement).toMatchObject({ isBurn: false, request, terms: { data: now.data } })
    expect(gasLimitOf(request, replacement?.terms as Fees)).toBe(60_000n + 2n * 70n * REQUEST_BYTES)
  })

  test('a no-op has room for them too', () => {
    const burn = planReplacement(stuck, heads, now, { policy: 'cancel' })

    expect(burn).toMatchObject({ isBurn: true, terms: { data: now.data } })
  })

  test('a batch that no longer fits into a block is cancelled', () => {
    const large = { ...request, data: `0x${'11'.repeat(12_000)}`, gas: 10_000_000 }
    const terms = { ...now, data: { weiPerByte: '70000', gasPerByte: '700' } }

    expect(fitsBlock(large, before)).toBe(true)
    expect(planReplacement({ ...stuck, request: large }, heads, terms, { isRefused: true })?.isBurn).toBe(
      true,
    )
  })

  test('fewer claims are signed together, and at least one', () => {
    const fitting = (gasPerByte: number) =>
      claimsThatFit({ ...feesOf(1n), data: { weiPerByte: '0', gasPerByte: String(gasPerByte) } }, 20)

    expect([0, 70, 700, 7_000, 70_000].map(fitting)).toEqual([20, 20, 16, 1, 1])
  })

  test('the assumed size of a claim matches a batch of claims', () => {
    const hash = `0x${'22'.repeat(32)}`
    const op = {
      wallet: zeroAddress,
      locker: zeroAddress,
      inputToken: zeroAddress,
      inputAmount: 1n,
      position: 1n,
      round: 1n,
      opDeadline: 1,
      refundDeadline: 2,
      deliveryHash: hash,
    }
    const swaps = Array.from({ length: 20 }, () => ({ op }) as Swap)
    const planned = planClaim(
      { escrow: zeroAddress } as unknown as EvmChainSettings,
      swaps,
      `0x${'01'.repeat(64)}1b`,
    )

    expect(bytesOf(planned)).toBeLessThanOrEqual(200n + 20n * 300n)
    expect(planned.gas).toBe(400_000 + 20 * 60_000)
  })
})

describe('a transaction waits for three blocks and three seconds before a fee bump', () => {
  const headAt = (number: bigint, seconds: number) => {
    const head: Block = { number, height: number, hash: '0x', seconds }
    return { head, accept: head, settle: head, hard: head }
  }
  const terms = feesOf(100n)
  const stuck = { request, terms, sentAtBlock: 10n, sentAtSeconds: 100, replacement: 0 } as unknown as Sent

  test.each([
    ['four blocks a second', 16n, 101, false],
    ['blocks of 12 seconds', 11n, 112, false],
    ['both', 13n, 103, true],
  ])('%s', (_, number, seconds, isRaised) => {
    const replacement = planReplacement(stuck, headAt(number, seconds), terms)

    expect(replacement !== undefined).toBe(isRaised)
  })

  test('but not when every node refused it', () => {
    const replacement = planReplacement(stuck, headAt(10n, 100), terms, { isRefused: true })

    expect(replacement).toMatchObject({
      isBurn: false,
      terms: { maxFeePerGas: '113', maxPriorityFeePerGas: '2' },
    })
  })

  test('by at least an eighth of both fees, however small they are', () => {
    for (const [fee, tip] of [
      [0n, 0n],
      [1n, 1n],
      [7n, 3n],
      [8n, 8n],
      [1_000_000_007n, 9n],
    ] as const) {
      const paid = { maxFeePerGas: String(fee), maxPriorityFeePerGas: String(tip) }
      const raised = planReplacement({ ...stuck, terms: paid }, headAt(13n, 103), paid)?.terms as Fees
      expect(BigInt(raised.maxFeePerGas) * 8n).toBeGreaterThan(fee * 9n)
      expect(BigInt(raised.maxPriorityFeePerGas) * 8n).toBeGreaterThan(tip * 9n)
      expect(BigInt(raised.maxPriorityFeePerGas)).toBeLessThanOrEqual(BigInt(raised.maxFeePerGas))
    }
  })
})

test('all keys share a recent tip, quotes read it again, and the base fee is the head’s', async () => {
  let asked = 0
  const estimateMaxPriorityFeePerGas = async () => {
    asked += 1
    return BigInt(asked)
  }
  const prices = createPriceReader([{ estimateMaxPriorityFeePerGas } as unknown as PublicClient], {
    tipWei: undefined,
  })
  const headsAt = (baseFeeWei: bigint) => ({ head: { baseFeeWei } }) as unknown as Heads

  const fees = [await readFees(prices, headsAt(100n)), await readFees(prices, headsAt(200n))]
  await readLegCosts(prices, headsAt(200n))
  fees.push(await readFees(prices, headsAt(200n)))

  expect(fees.map(({ maxFeePerGas }) => maxFeePerGas)).toEqual(['201', '401', '402'])
  expect(asked).toBe(2)
})
