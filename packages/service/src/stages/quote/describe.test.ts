import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatBoth, formatUnits, shareCents, toCents, usdE18 } from '../../swap/amount.ts'
import { describePrice } from './describe.ts'

const CENT = 10n ** 16n
const centsOf = (usd = '') => BigInt(usd.replace('.', ''))
const away = (cents: bigint, valueE18: bigint) => {
  const difference = cents * CENT - valueE18
  return difference < 0n ? -difference : difference
}

const amount = (most: bigint) => fc.bigInt({ min: 0n, max: most })
const choice = fc
  .record({
    ...{ inputPrice: fc.bigInt({ min: 10n ** 12n, max: 10n ** 22n }), serviceFee: amount(10n ** 15n) },
    ...{ originCost: amount(10n ** 15n), deliveryCost: amount(10n ** 15n), accountRent: amount(10n ** 15n) },
    ...{ rest: amount(10n ** 20n), better: fc.boolean(), impact: amount(10n ** 14n) },
  })
  .map(({ inputPrice: price, rest, better, impact, serviceFee, ...costs }) => {
    const input = { decimals: 18, price }
    const fees = serviceFee + costs.originCost + costs.deliveryCost + costs.accountRent
    const swappable = rest + impact
    const amountOut = better ? swappable + impact : rest
    return {
      offer: {} as never,
      terms: { ...costs, input, output: input, feeCentiBps: 0n },
      price: {
        amountIn: fees + swappable,
        amountOut,
        swappable,
        charges: [['serviceFee', serviceFee] as const],
        payAmount: amountOut,
      },
    }
  })

test('the USD of each fee is within a cent of its own amount, and all add up to the difference of both sides', () => {
  fc.assert(
    fc.property(choice, (given) => {
      const { fees, inputUsd, outputUsd } = describePrice(given, 500)

      for (const { amount, usd } of fees)
        expect(away(centsOf(usd), usdE18(BigInt(amount), given.terms.input))).toBeLessThan(CENT)
      const total = fees.reduce((sum, { usd }) => sum + centsOf(usd), 0n)
      expect(total).toBe(centsOf(inputUsd) - centsOf(outputUsd))
    }),
  )
})

const usd = { decimals: 6, price: 10n ** 18n }
const costs = { originCost: 3_000n, deliveryCost: 2_000n, accountRent: 0n, feeCentiBps: 0n }
const described = (amountOut: bigint, output: typeof usd | undefined) => {
  const price = {
    amountIn: 1_000_000n,
    amountOut,
    charges: [
      ['serviceFee', 4_000n] as const,
      ['rebalancing', 0n] as const,
      ['integratorFee', 1_000n] as const,
    ],
    swappable: 990_000n,
    payAmount: amountOut,
  }
  return describePrice({ offer: {} as never, terms: { ...costs, input: usd, output }, price }, 500)
}

test('without a price of the output only the fees have a value, which is that of their sum', () => {
  const { fees, ...others } = described(1n, undefined)

  expect(others).toEqual({})
  expect(fees.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual([
    'serviceFee 4000',
    'integratorFee 1000',
    'originNetwork 3000',
    'deliveryNetwork 2000',
  ])
  expect(fees.reduce((sum, { usd }) => sum + centsOf(usd), 0n)).toBe(1n)
})

test('a loss of five percent is warned of, and a smaller one is not', () => {
  expect(described(950_000n, usd)).toMatchObject({
    ...{ inputUsd: '1.00', outputUsd: '0.95', priceImpactBps: -500 },
    warnings: [
      {
        code: 'HIGH_PRICE_IMPACT',
        message: 'The output is worth 5.00% less than the input, all costs included.',
      },
    ],
  })
  expect(described(950_100n, usd)).not.toHaveProperty('warnings')
})

test('without a price of the output, the fees add up to their own sum', () => {
  fc.assert(
    fc.property(fc.array(amount(10n ** 18n), { maxLength: 5 }), (values) => {
      const all = values.reduce((sum, value) => sum + value, 0n)

      const shares = shareCents(values, toCents(all))

      expect(shares.reduce((sum, cents) => sum + cents, 0n)).toBe(toCents(all))
    }),
  )
})

test('amounts are written in whole tokens, with all their digits', () => {
  const usdc = { decimals: 6, symbol: 'USDC' }

  expect(formatUnits(1_234_500_000n, usdc)).toBe('1,234.5 USDC')
  expect(formatUnits(1n, usdc)).toBe('0.000001 USDC')
  expect(formatUnits(0n, usdc)).toBe('0 USDC')
  expect(formatUnits(1_234_567n, { decimals: 0, symbol: 'ONE' })).toBe('1,234,567 ONE')
  expect(formatBoth(1_234_500_000n, usdc)).toBe('1,234.5 USDC (1234500000)')
})
