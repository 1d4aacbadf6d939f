import { expect, test } from 'vitest'
import type { ServiceError } from '../../errors.ts'
import type { CatalogChain, Token } from '../../swap/catalog.ts'
import type { Curve, Offer, Refusal, Venue } from '../../swap/venue.ts'
import { chooseVenue, largestAmount } from './choose.ts'
import type { BaseTerms } from './costs.ts'
import type { Order } from './request.ts'

const usd = { decimals: 6, price: 10n ** 18n }
const base: BaseTerms = {
  input: usd,
  output: usd,
  feeCentiBps: 1_000n,
  originCost: 10n,
  accountRent: 0n,
  destinationCoin: usd,
  mostInput: 10n ** 30n,
}
const token = { chainId: 1, address: '0x1', symbol: 'USDC', decimals: 6, asset: 'USDC' } as Token
const order: Order = {
  origin: { name: 'one' } as CatalogChain,
  destination: { name: 'two' } as CatalogChain,
  input: token,
  output: token,
  wallet: '0xa',
  recipient: '0xb',
  amount: 1_000_000n,
  slippageBps: 50,
  tradeType: 'exactInput',
  leastOutput: 0n,
  integratorCentiBps: 0,
}

function venue(name: string, offer: Partial<Offer> & { depth?: bigint; impactBps?: bigint } = {}): Venue {
  const { depth = 10n ** 9n, impactBps = 0n, ...rest } = offer
  const curve: Curve = { kind: 'depth', input: usd, output: usd, spreadBps: 0n, impactBps, depth }
  return { name, offer: () => ({ venue: name, curve, deliveryCost: 0n, payToken: '0x1', ...rest }) }
}

/** Its input has no decimals. */
function coarse(name: string, depth: bigint): Venue {
  const input = { ...usd, decimals: 0 }
  const curve: Curve = { kind: 'depth', input, output: usd, spreadBps: 0n, impactBps: 0n, depth }
  return { name, offer: () => ({ venue: name, curve, deliveryCost: 0n, payToken: '0x1' }) }
}

const refusing = (name: string, why: Refusal['why']): Venue => ({ name, offer: () => ({ venue: name, why }) })

function errorOf(
  venues: readonly Venue[],
  of: Partial<Order> = {},
  mostInput = base.mostInput,
): ServiceError {
  try {
    chooseVenue(venues, { ...order, ...of }, { ...base, mostInput })
  } catch (error) {
    return error as ServiceError
  }
  throw new Error('Expected a refusal')
}

const chosen = (venues: readonly Venue[], of: Partial<Order> = {}, mostInput = base.mostInput) =>
  chooseVenue(venues, { ...order, ...of }, { ...base, mostInput }).offer.venue

test('the venue with the most output wins, delivery costs included', () => {
  const dear = venue('dear', { deliveryCost: 500n })
  const cheap = venue('cheap', { deliveryCost: 499n })

  expect(chosen([dear, cheap])).toBe('cheap')
  expect(chosen([dear, cheap], { tradeType: 'exactOutput' })).toBe('cheap')
})

test.each(['exactInput', 'exactOutput'] as const)(
  'of two equal venues the first wins with %s',
  (tradeType) => {
    expect(chosen([venue('one'), venue('other')], { tradeType })).toBe('one')
  },
)

test('an exact input has to leave one unit after the slippage, and an exact output may be one unit', () => {
  const slippageBps = 9_000
  const least = BigInt(String(errorOf([venue('one')], { amount: 1n, slippageBps }).recovery?.minAmount))

  const { price } = chooseVenue([venue('one')], { ...order, amount: least, slippageBps }, base)
  expect(price.amountOut).toBe(10n)
  expect(chosen([venue('one')], { tradeType: 'exactOutput', amount: 1n, slippageBps })).toBe('one')
})

test('a venue that cannot deliver this much leaves it to one that can', () => {
  expect(chosen([venue('small', { depth: 10n }), venue('large', { deliveryCost: 9_000n })])).toBe('large')
  expect(chosen([refusing('none', 'empty'), venue('large')])).toBe('large')
})

test('the bounds in an error are the best of all venues, and can be quoted', () => {
  const venues = [venue('small', { depth: 10_000n }), venue('large', { depth: 500_000n, deliveryCost: 7n })]
  const { code, recovery } = errorOf(venues)
  const most = BigInt(String(recovery?.maxAmount))

  expect(code).toBe('INSUFFICIENT_LIQUIDITY')
  expect(chosen(venues, { amount: most })).toBe('large')
  expect(errorOf(venues, { amount: most + 1n }).code).toBe('INSUFFICIENT_LIQUIDITY')

  const tooSmall = errorOf(venues, { amount: 1n })
  const least = BigInt(String(tooSmall.recovery?.minAmount))
  expect(tooSmall.code).toBe('NEEDS_LARGER_SIZE')
  expect(chosen(venues, { amount: least })).toBe('small')
  expect(errorOf(venues, { amount: least - 1n }).code).toBe('NEEDS_LARGER_SIZE')
})

test('an output that is more than the venues have is refused with the most that one has, in its own token', () => {
  const venues = [
    venue('small', { depth: 10_000n }),
    venue('large', { depth: 500_000n }),
    venue('none', { depth: 0n }),
  ]
  const output = { ...token, symbol: 'EURC' }

  const refused = errorOf(venues, { tradeType: 'exactOutput', output })
  expect(refused).toMatchObject({ code: 'INSUFFICIENT_LIQUIDITY', recovery: { maxAmount: '500000' } })
  expect(refused.message).toContain('0.5 EURC')
  expect(largestAmount(venues, { ...order, tradeType: 'exactOutput' }, base)).toBe(500_000n)
})

test('the only amount that can be quoted is named', () => {
  const least = BigInt(String(errorOf([venue('one')], { amount: 1n }).recovery?.minAmount))

  expect(errorOf([venue('one')], {}, least).recovery?.maxAmount).toBe(least.toString())
  expect(errorOf([venue('one')], {}, least - 1n).recovery?.maxAmount).toBe('0')
})

test.each<[string, Venue[], Partial<Order>, Partial<BaseTerms>]>([
  ['too little for any output', [venue('dust', { depth: 1n })], {}, {}],
  [
    'too little, and another waits for claims',
    [venue('dust', { depth: 1n }), venue('one')],
    {},
    { mostInput: 5n },
  ],
  [
    'less than the next unit of the input buys',
    [coarse('one', 1_500_000n)],
    { amount: 1n, leastOutput: 1_200_000n },
    { input: { ...usd, decimals: 0 }, originCost: 0n, feeCentiBps: 0n, mostInput: 2n },
  ],
])('a venue that has %s delivers nothing now', (_, venues, of, terms) => {
  expect(() => chooseVenue(venues, { ...order, ...of }, { ...base, ...terms })).toThrow(
    'No USDC can be delivered on two now. Try again later.',
  )
})

test('the least that may arrive is a bound as well', () => {
  const { code, recovery } = errorOf([venue('one')], { leastOutput: 2_000_000n })
  const least = BigInt(String(recovery?.minAmount))

  expect(code).toBe('NEEDS_LARGER_SIZE')
  expect(chosen([venue('one')], { leastOutput: 2_000_000n, amount: least })).toBe('one')
})

test('without any delivery the reason of each venue is reported', () => {
  expect(errorOf([refusing('a', 'notServed'), refusing('b', 'notServed')])).toMatchObject({
    code: 'NO_ROUTE',
    details: {
      venues: [
        { venue: 'a', reason: 'does not serve this token' },
        { venue: 'b', reason: 'does not serve this token' },
      ],
    },
  })
})

test('a venue without a price or without liquidity now is a reason to retry', () => {
  expect(errorOf([refusing('a', 'noPrice'), refusing('b', 'notServed')]).code).toBe('PRICE_UNAVAILABLE')
  expect(errorOf([refusing('a', 'empty'), refusing('b', 'notServed')])).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { action: 'RETRY_LATER', maxAmount: '0' },
  })
})

test('an input that could not be claimed in time is refused with the largest that can', () => {
  const venues = [venue('one', { depth: 10n ** 9n, impactBps: 30n })]
  const most = 400_000n
  for (const tradeType of ['exactInput', 'exactOutput'] as const) {
    const { code, recovery } = errorOf(venues, { tradeType }, most)
    const amount = BigInt(String(recovery?.maxAmount))

    expect(code).toBe('INSUFFICIENT_LIQUIDITY')
    expect(chosen(venues, { tradeType, amount }, most)).toBe('one')
    expect(errorOf(venues, { tradeType, amount: amount + 1n }, most).code).toBe('INSUFFICIENT_LIQUIDITY')
    if (tradeType === 'exactInput') expect(amount).toBe(most)
  }
})

test('the largest amount is bounded by inventory and by the claim cap', () => {
  const { recovery } = errorOf([venue('small', { depth: 10_000n })], {}, 400_000n)

  expect(chosen([venue('small', { depth: 10_000n })], { amount: BigInt(String(recovery?.maxAmount)) })).toBe(
    'small',
  )
})

test('while no input can be taken no smaller amount is suggested', () => {
  for (const mostInput of [0n, 5n])
    expect(errorOf([venue('one')], {}, mostInput)).toMatchObject({
      code: 'INSUFFICIENT_LIQUIDITY',
      message: 'No more USDC can be taken on one now. Try again later.',
      recovery: { action: 'RETRY_LATER', maxAmount: '0' },
    })
})

test('the largest amount is the best of all venues within the largest input, and has a price', () => {
  const venues = [refusing('none', 'empty'), venue('small', { depth: 10_000n }), venue('large')]
  for (const tradeType of ['exactInput', 'exactOutput'] as const) {
    const amount = largestAmount(venues, { ...order, tradeType }, { ...base, mostInput: 400_000n })

    expect(chosen(venues, { tradeType, amount }, 400_000n)).toBe('large')
    expect(errorOf(venues, { tradeType, amount: amount + 1n }, 400_000n).code).toBe('INSUFFICIENT_LIQUIDITY')
  }
  expect(largestAmount(venues, order, { ...base, mostInput: 0n })).toBe(0n)
})
