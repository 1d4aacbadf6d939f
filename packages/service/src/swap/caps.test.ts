import fc from 'fast-check'
import { expect, test } from 'vitest'
import { capsFrom } from './exposure.ts'

const MILLION = 100_000_000n

test.each([
  [MILLION / 100n, { exposedCents: 50_000n, fastCents: 250_000n, unclaimedCents: 25_000_000n }],
  [MILLION, { exposedCents: 5_000_000n, fastCents: 25_000_000n, unclaimedCents: 50_000_000n }],
  [10n * MILLION, { exposedCents: 50_000_000n, fastCents: 250_000_000n, unclaimedCents: 500_000_000n }],
])('an operator who holds %i cents has caps in proportion', (inventory, caps) => {
  expect(capsFrom({}, inventory)).toEqual(caps)
})

test('a cap that is set does not follow the inventory', () => {
  const set = { exposureCapUsd: 100, fastCapUsd: 300, unclaimedCapUsd: 400 }

  expect(capsFrom(set, 10n * MILLION)).toEqual({
    exposedCents: 10_000n,
    fastCents: 30_000n,
    unclaimedCents: 40_000n,
  })
})

test('an operator who set the first cap alone, or the second to 0, risks no more than the first', () => {
  expect(capsFrom({ exposureCapUsd: 0 }, 10n * MILLION)).toMatchObject({ exposedCents: 0n, fastCents: 0n })
  expect(capsFrom({ exposureCapUsd: 70, fastCapUsd: 0 }, MILLION).fastCents).toBe(7_000n)
})

test('the caps of fast and of unclaimed value are never below the first, whatever is set or held', () => {
  const usd = fc.option(fc.nat(1_000_000), { nil: undefined })
  fc.assert(
    fc.property(usd, usd, fc.bigInt({ min: 0n, max: 10n ** 12n }), (exposureCapUsd, fastCapUsd, held) => {
      const { exposedCents, fastCents, unclaimedCents } = capsFrom({ exposureCapUsd, fastCapUsd }, held)
      expect(fastCents >= exposedCents && unclaimedCents >= fastCents).toBe(true)
    }),
  )
})
