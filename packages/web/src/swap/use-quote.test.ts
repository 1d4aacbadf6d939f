import { stub } from '@geoswap/protocol/test/stub'
import type { QuoteReply } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { quoteIn } from './use-quote.ts'

const quote = stub<QuoteReply>({
  ...{ input: '10000', output: '1000', minOutput: '990' },
  fees: [
    { kind: 'serviceFee', amount: '8' },
    { kind: 'originNetwork', amount: '5' },
  ],
  originMethods: [{ method: 'transfer', input: '10000', output: '990', minOutput: '980' }],
})

test('the price is that of the way in which the wallet pays, and its network costs are among the fees', () => {
  const { output, minOutput, fees } = quoteIn(quote, 'transfer')

  expect([output, minOutput]).toEqual(['990', '980'])
  expect(fees.map(({ amount }) => amount)).toEqual(['8', '105'])
})

test('both speeds cost as much more as the quote does in that way', () => {
  const speeds = [
    { speed: 'final' as const, etaSeconds: 9, outputAmount: '1000', minOutput: '990' },
    { speed: 'fast' as const, etaSeconds: 4, outputAmount: '995', minOutput: '985' },
  ]

  expect(quoteIn({ ...quote, speeds }, 'transfer').speeds).toEqual([
    { ...speeds[0], outputAmount: '990', minOutput: '980' },
    { ...speeds[1], outputAmount: '985', minOutput: '975' },
  ])
})

test('a way that the quote does not name leaves it as it is', () => {
  expect(quoteIn(quote, 'delegation')).toBe(quote)
})
