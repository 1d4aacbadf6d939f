import { expect, test } from 'vitest'
import { toExchange } from './book.ts'
import type { Reference } from './reference.ts'

const three = { count: 3 }
const references: Record<string, Reference> = {
  ETH: { price: 2_000n, low: 1_990n, high: 2_010n, ...three },
  SOL: { price: 100n, low: 99n, high: 101n, ...three },
  GEO: { price: 10_000n, low: 10_000n, high: 10_000n, count: 2 },
  OFF: { unavailable: 'disagree' },
}
const exchangeOf = (input: string, output: string) =>
  toExchange({ referenceOf: (asset) => references[asset] ?? { unavailable: 'tooFew' } }, { input, output }, 5)

test('the input counts at its lowest source, and the output at its highest', () => {
  expect(exchangeOf('ETH', 'SOL')).toEqual({ input: 1_990n, output: 101n })
  expect(exchangeOf('SOL', 'ETH')).toEqual({ input: 99n, output: 2_010n })
})

test('an asset with fewer than three live sources costs a spread, and one asset none against itself', () => {
  expect(exchangeOf('GEO', 'ETH')).toEqual({ input: 9_995n, output: 2_010n })
  expect(exchangeOf('GEO', 'GEO')).toEqual({ input: 10_000n, output: 10_000n })
})

test('there is no exchange while the sources of either side disagree', () => {
  expect([exchangeOf('ETH', 'OFF'), exchangeOf('OFF', 'ETH')]).toEqual([undefined, undefined])
})
