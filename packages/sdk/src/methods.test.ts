import { expect, test } from 'vitest'
import { evmQuote } from '../test/evm-offer.ts'
import { quoteBy } from './methods.ts'

const by = (changed: object, quote: object = {}) => {
  const { input, output, minOutput } = evmQuote
  const way = { method: 'transfer', input, output, minOutput, ...changed } as const
  return quoteBy({ ...evmQuote, ...quote, originMethods: [way] }, 'transfer')
}

test('the impact of a way is that of its amounts, rounded towards the worse', () => {
  expect(by({})).toMatchObject({ priceImpactBps: -35 })
  expect(by({ output: '9865350' })).toMatchObject({ priceImpactBps: -135 })
  expect(by({ output: '9964999' })).toMatchObject({ priceImpactBps: -36 })
  expect(by({ input: '11000000' })).toMatchObject({ priceImpactBps: -941 })
  expect(by({ output: '0' })).toMatchObject({ priceImpactBps: -10_000 })
})

test('the impact of a way is not known if that of the quote is not', () => {
  expect(by({}, { priceImpactBps: undefined }).priceImpactBps).toBeUndefined()
  expect(by({}, { output: '0' }).priceImpactBps).toBeUndefined()
  expect(by({}, { priceImpactBps: -10_001 }).priceImpactBps).toBeUndefined()
})
