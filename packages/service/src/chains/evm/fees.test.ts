import { type PublicClient, zeroAddress } from 'viem'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { SignedDelegation, Swap } from '../../swap/swap.ts'
import type { Heads, Sent } from '../chain.ts'
import { bytesOf } from './data-price.ts'
import {
  boundFees,
  claimsThatFit,
  costOf,
  createPriceReader,
  type Fees,
  fitsBlock,
  gasLimitOf,
  offerReplacements,
  readFees,
  readLegCosts,
} from './fees.ts'
import type { WithBaseFee } from './heads.ts'
import { planClaim, planTransfer } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

afterEach(() => vi.restoreAllMocks())

const feesOf = (maxFeePerGas: bigint, bound?: bigint): Fees => ({
  maxFeePerGas: String(maxFeePerGas),
  maxPriorityFeePerGas: '1',
  ...(bound !== undefined && { bound: String(bound) }),
})

test('terms are within the bound, or undefined', () => {
  expect(boundFees(feesOf(100n), 100n)).toEqual(feesOf(100n, 100n))
  expect(boundFees(feesOf(101n), 100n)).toBeUndefined()
})

describe('the replacements of an unmined transaction', () => {
  const request = { to: '0x01', data: '0x02', gas: 60_000 }
  const offersOf = (terms: Fees, current: Fees) => offerReplacements(stub<Sent>({ request, terms }), current)

  test('keep its effect up to its bound, which stays', () => {
    const { bounded } = offersOf(feesOf(100n, 1_000n), feesOf(900n))
    expect(bounded).toMatchObject({ isBurn: false, request })
    expect(bounded?.terms).toEqual({ ...feesOf(900n, 1_000n), maxPriorityFeePerGas: '2' })
  })

  test('above its bound have no bound, and are a no-op if they must not exceed it', () => {
    const { bounded, unbounded, noop } = offersOf(feesOf(100n, 1_000n), feesOf(1_001n))
    const terms = { maxFeePerGas: '1001', maxPriorityFeePerGas: '2' }
    expect(bounded).toBeUndefined()
    expect(unbounded).toMatchObject({ isBurn: false, request })
    expect(noop).toMatchObject({ isBurn: true, request: { data: '0x' } })
    expect([unbounded?.terms, noop.terms]).toEqual([terms, terms])
  })

  test('have a no-op with the gas of a plain transfer, which on a rollup pays for its bytes', () => {
    const transfer = planTransfer({ from: '0x01', to: '0x02', token: zeroAddress, amount: 1n })
    const { noop } = offersOf(feesOf(100n, 1_000n), feesOf(1_001n))
    expect(noop).toMatchObject({ request: { gas: transfer.gas }, cost: BigInt(transfer.gas) * 1_001n })
  })

  test('offer any fee without a bound', () => {
    expect(offersOf(feesOf(100n), feesOf(1_000_000n)).bounded).toMatchObject({
      ...{ isBurn: false, request, terms: { maxFeePerGas: '1000000' } },
    })
  })

  test.each([
    ['the same fees', feesOf(1_000n), false],
    ['a higher fee', feesOf(1_001n), true],
    ['a higher tip', { ...feesOf(900n), maxPriorityFeePerGas: '5' }, true],
    ['a higher limit for bytes', { ...feesOf(900n), data: { weiPerByte: '0', gasPerByte: '7' } }, true],
  ])('outbid it at %s: %o, %s', (_, current, isOutbid) => {
    expect(offersOf(feesOf(1_000n), current).isOutbid).toBe(isOutbid)
  })

  test('raise both fees by at least an eighth, however small they are', () => {
    for (const [fee, tip] of [
      [0n, 0n],
      [1n, 1n],
      [7n, 3n],
      [8n, 8n],
      [1_000_000_007n, 9n],
    ] as const) {
      const paid = { maxFeePerGas: String(fee), maxPriorityFeePerGas: String(tip) }
      const raised = offersOf(paid, paid).unbounded?.terms as Fees
      expect(BigInt(raised.maxFeePerGas) * 8n).toBeGreaterThan(fee * 9n)
      expect(BigInt(raised.maxPriorityFeePerGas) * 8n).toBeGreaterThan(tip * 9n)
      expect(BigInt(raised.maxPriorityFeePerGas)).toBeLessThanOrEqual(BigInt(raised.maxFeePerGas))
    }
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

  test('a transaction with a delegation has more bytes', () => {
    const authorizations = [{} as SignedDelegation]
    const fees = { ...feesOf(100n), data: ARBITRUM }

    expect(gasLimitOf({ ...request, authorizations }, fees)).toBe(gasLimitOf(request, fees) + 2n * 7n * 110n)
  })
})

describe('when bytes become ten times as expensive', () => {
  const before = { ...feesOf(100n), data: ARBITRUM }
  const now = { ...feesOf(100n), data: { weiPerByte: '7000', gasPerByte: '70' } }
  const stuck = stub<Sent>({ request, terms: before })

  test('a replacement has room for their current cost, with the same effect', () => {
    const replacement = offerReplacements(stuck, now).bounded

    expect(replacement).toMatchObject({ isBurn: false, request, terms: { data: now.data } })
    expect(gasLimitOf(request, replacement?.terms as Fees)).toBe(60_000n + 2n * 70n * REQUEST_BYTES)
  })

  test('a no-op has room for them too', () => {
    const { noop } = offerReplacements(stuck, now)

    expect(noop).toMatchObject({ isBurn: true, terms: { data: now.data } })
  })

  test('a batch that no longer fits into a block can only be cancelled', () => {
    const large = { ...request, data: `0x${'11'.repeat(12_000)}`, gas: 10_000_000 }
    const terms = { ...now, data: { weiPerByte: '70000', gasPerByte: '700' } }

    expect(fitsBlock(large, before)).toBe(true)
    expect(offerReplacements({ ...stuck, request: large }, terms)).toMatchObject({
      ...{ bounded: undefined, unbounded: undefined, noop: { isBurn: true } },
    })
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
      stub<EvmChainSettings>({ escrow: zeroAddress }),
      swaps,
      [1, 2].map((n) => ({ signer: `0x0${n}`, signature: `0x${`0${n}`.repeat(64)}1b` })),
    )

    expect(bytesOf(planned)).toBeLessThanOrEqual(200n + 20n * 300n)
    expect(planned.gas).toBe(400_000 + 20 * 60_000 + 2 * 15_000)
  })
})

test('all keys share a tip of seven seconds, quotes read it again, and the base fee is the head’s', async () => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  let asked = 0
  const estimateMaxPriorityFeePerGas = async () => {
    asked += 1
    return BigInt(asked)
  }
  const prices = createPriceReader([stub<PublicClient>({ estimateMaxPriorityFeePerGas })], {
    tipWei: undefined,
  })
  const headsAt = (baseFeeWei: bigint) => stub<Heads & { head: WithBaseFee }>({ head: { baseFeeWei } })

  const fees = [await readFees(prices, headsAt(100n))]
  now = 6_999
  fees.push(await readFees(prices, headsAt(200n)))
  await readLegCosts(prices, [], headsAt(200n))
  fees.push(await readFees(prices, headsAt(200n)))
  now = 14_000
  fees.push(await readFees(prices, headsAt(200n)))

  expect(fees.map(({ maxFeePerGas }) => maxFeePerGas)).toEqual(['201', '401', '402', '403'])
  expect(asked).toBe(3)
})
