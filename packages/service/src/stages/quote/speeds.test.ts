import type { QuoteReply } from '@geoswap/wire'
import { expect, test } from 'vitest'
import { ask, market, openToken, refusal } from '../../../test/support/quotes.ts'
import { fastPayment } from '../../swap/pricing.ts'
import { quoteBy } from '../../swap/quote.ts'

// Room for 10 USD without a premium and for 50 USD with one.
const roomy = { deps: { market: { ...market, fastRoom: () => 5_000n } } }
const large = { amount: '20000000' }
const premiumOf = ({ fees }: QuoteReply) => fees.find(({ kind }) => kind === 'riskPremium')

test('a swap above the first cap is quoted as final, and shows the fast way with its premium', async () => {
  const reply = await ask(large, roomy)

  expect(reply).toMatchObject({ speed: 'final', output: '19972000', etaSeconds: 128 })
  expect(reply.speeds).toEqual([
    { speed: 'final', etaSeconds: 128, outputAmount: '19972000', minOutput: '19872140' },
    {
      ...{ speed: 'fast', etaSeconds: 2, outputAmount: '19970000', minOutput: '19870150' },
      ...{ riskPremium: '2000', riskPremiumUsd: '0.00' },
    },
  ])
  expect(reply.warnings?.map(({ message }) => message)).toEqual([
    'The input has to be final on chain 1 first: this takes about 2 minutes. With maxEtaSeconds it takes about ' +
      '2 seconds, for a premium.',
  ])
  expect(premiumOf(reply)).toBeUndefined()
})

test('a time limit that only the fast way keeps chooses it, with the premium among the fees', async () => {
  const reply = await ask({ ...large, maxEtaSeconds: 127 }, roomy)

  expect(reply).toMatchObject({ speed: 'fast', output: '19970000', minOutput: '19870150', etaSeconds: 2 })
  expect(premiumOf(reply)).toEqual({ kind: 'riskPremium', amount: '2000', usd: '0.00' })
  expect([reply.speeds?.length, reply.warnings]).toEqual([2, undefined])
  expect((await ask({ ...large, maxEtaSeconds: 128 }, roomy)).speed).toBe('final')
})

test('the token of a fast quote has what is paid with and without the premium, by each way in', async () => {
  const { quoted } = openToken(await ask({ ...large, maxEtaSeconds: 60 }, roomy))
  const permit = quoteBy(quoted, 'authorization') ?? quoted
  const paidFast = ({ amountOut, ...amounts }: typeof quoted) =>
    fastPayment({ ...amounts, quotedOutput: amountOut }).output

  expect(quoted).toMatchObject({ amountOut: 19_972_000n, fastOutput: 19_970_000n, riskPremium: 2_000n })
  expect(permit).toMatchObject({ amountOut: 19_969_000n, fastOutput: 19_967_000n, riskPremium: 2_000n })
  expect([quoted, permit].map(paidFast)).toEqual([19_970_000n, 19_967_000n])
  expect(openToken(await ask(large, roomy)).quoted).toMatchObject({ fastOutput: 0n, riskPremium: 0n })
})

test('an exact output costs the premium in the input, and more is paid if it has to wait', async () => {
  const exact = { tradeType: 'exactOutput', amount: '19970000' } as const
  const fast = await ask({ ...exact, maxEtaSeconds: 60 }, roomy)
  const final = await ask(exact, roomy)

  expect(fast).toMatchObject({ input: '20000000', output: '19970000', minOutput: '19970000' })
  expect(BigInt(fast.input) - BigInt(final.input)).toBe(2_002n)
  expect(openToken(fast).quoted).toMatchObject({ amountOut: 19_972_000n, fastOutput: 19_970_000n })
})

test('a swap with room of its own has one way and names none', async () => {
  const reply = await ask({ amount: '10000000' }, roomy)

  expect([reply.speed, reply.speeds, reply.etaSeconds]).toEqual([undefined, undefined, 2])
})

test('a swap beyond both caps waits for finality, and a time limit names the largest fast amount', async () => {
  const reply = await ask({ amount: '50000001' }, roomy)

  expect([reply.speed, reply.speeds]).toEqual(['final', undefined])
  expect(await refusal({ amount: '50000001', maxEtaSeconds: 60 }, roomy)).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    recovery: { maxAmount: '50000000' },
  })
  expect(await refusal({ ...large, maxEtaSeconds: 1 }, roomy)).toMatchObject({ details: { etaSeconds: 2 } })
})

test('the premium of an exact output counts against the limits of a key', async () => {
  const exact = { tradeType: 'exactOutput', amount: '19970000', maxEtaSeconds: 60 } as const

  expect(await refusal(exact, { ...roomy, rules: { maxSwapCents: 1_999 } })).toMatchObject({
    code: 'KEY_LIMIT_EXCEEDED',
  })
})

test('a premium that raises the input above the room leaves an exact output without a fast way', async () => {
  const small = { deps: { market: { ...market, fastRoom: () => 2_000n } } }
  const speedsOf = async (amount: string) => (await ask({ tradeType: 'exactOutput', amount }, small)).speeds

  expect((await speedsOf('19970000'))?.length).toBe(2)
  expect(await speedsOf('19971000')).toBeUndefined()
})
