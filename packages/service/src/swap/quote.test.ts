import { INPUT_METHODS } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { fromSealed, type Quote, quoteBy, toSealed, unquotedTerms } from './quote.ts'

const amounts = {
  ...{
    amountIn: 1_000n,
    amountOut: 990n,
    minOutput: 980n,
    swappable: 985n,
    priceFloor: 900n,
    integratorFee: 5n,
    fastOutput: 985n,
    riskPremium: 6n,
  },
  ...{ valueCents: 5n, payAmount: 990n },
}
const permit = { ...amounts, amountIn: 1_100n, amountOut: 985n }
const quote: Quote = {
  ...{ id: 'q', originChain: 1, destinationChain: 2, wallet: 'w', recipient: 'r', inputToken: 'a' },
  ...{ outputToken: 'b', venue: 'inventory', payToken: 'b', lockFeeBound: 7n, deliveryFeeBound: 0n },
  ...{ ...amounts, expiresAt: 123, createsAccount: true },
}

test.each<[string, Quote]>([
  ['with one way', quote],
  ['that creates no account', { ...quote, createsAccount: false }],
  ['with other ways', { ...quote, ways: { permit, deposit: amounts } }],
  ['with a name', { ...quote, externalId: 'order-1' }],
  ['with a name and other ways', { ...quote, ways: { permit }, externalId: 'order-1' }],
])('a quote %s is sealed and read again', (_, sealed) => {
  expect(fromSealed(JSON.parse(JSON.stringify(toSealed(sealed))))).toEqual(sealed)
})

test('each way keeps its place, by which quotes that an older version sealed name it', () => {
  const places = ['delegation', 'authorization', 'permit', 'deposit', 'transfer', 'payment']

  expect(INPUT_METHODS.slice(0, places.length)).toEqual(places)
})

test('the amounts of a quote are those of the chosen way', () => {
  const withPermit = { ...quote, ways: { permit } }

  expect(quoteBy(withPermit, 'delegation')).toBe(withPermit)
  expect(quoteBy(withPermit, 'permit')).toEqual({ ...withPermit, ...permit })
  expect(quoteBy(withPermit, 'deposit')).toBeUndefined()
})

test('an op whose quote is unknown creates no account', () => {
  expect(unquotedTerms.createsAccount).toBe(false)
})
