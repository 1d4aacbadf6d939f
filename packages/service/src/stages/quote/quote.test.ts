import { expect, test } from 'vitest'
import { ask, asked, costs, deps, market, openToken, refusal } from '../../../test/support/quotes.ts'
import type { Market } from '../../swap/catalog.ts'
import { toHeld } from '../../swap/discount.ts'
import type { KeyRules } from '../../swap/key-rules.ts'
import type { StopScope } from '../../swap/stop.ts'
import { type QuoteDeps, quote } from './quote.ts'

test('a quote takes fee and network costs from the input, and its token carries what it says', async () => {
  const reply = await ask()

  // 12.5 bps are 1,250; the lock costs 1,000 and the delivery 2,000.
  expect(reply).toMatchObject({
    ...{ origin: 'evm', input: '1000000', output: '995750', minOutput: '990771', feeBps: 12.5 },
    ...{ expiresAt: new Date(1_030_000).toISOString(), etaSeconds: 2, inputUsd: '1.00', outputUsd: '1.00' },
  })
  expect(reply.fees).toEqual([
    { kind: 'serviceFee', amount: '1250', usd: '0.00' },
    { kind: 'originNetwork', amount: '1000', usd: '0.00' },
    { kind: 'deliveryNetwork', amount: '2000', usd: '0.00' },
  ])
  expect(reply).not.toHaveProperty('warnings')
  expect(reply).not.toHaveProperty('feeDiscount')
  const { accountId, quoted } = openToken(reply)
  expect(accountId).toBe('acct')
  expect(quoted).toMatchObject({
    ...{ originChain: 1, destinationChain: 2, wallet: '0xa', recipient: '0xa' },
    ...{ inputToken: '0xc', outputToken: '0xc', payToken: '0xc', venue: 'vault' },
    ...{ amountIn: 1_000_000n, amountOut: 995_750n, minOutput: 990_771n, payAmount: 995_750n },
    // Twice the slippage of 50 bps.
    ...{ priceFloor: 994_506n, valueCents: 100n, createsAccount: false, expiresAt: 1_030_000 },
  })
})

test('an order is priced at once if nothing has to be read', () => {
  expect(quote(deps, { accountId: 'acct', keyId: 'key', rules: {} }, asked)).not.toBeInstanceOf(Promise)
})

test('an output without a price is quoted without its value, and an input without one is not quoted', async () => {
  expect(await ask({ outputToken: '0xe' })).not.toHaveProperty('outputUsd')
  expect(await refusal({ inputToken: '0xe' })).toMatchObject({
    code: 'PRICE_UNAVAILABLE',
    details: { asset: 'EURC' },
  })
})

const now = { seconds: 0, block: 1n, height: 1n, costs }

test.each<[string, number, Partial<Market>, string]>([
  [
    'does not answer',
    1,
    { canSend: () => true },
    'does not answer or stands still. Try again in a few seconds.',
  ],
  [
    'does not answer',
    2,
    { canSend: () => true },
    'does not answer or stands still. Try again in a few seconds.',
  ],
  ['cannot send', 1, { chainNow: () => now }, 'takes no swaps now. Try again in a few seconds.'],
  ['cannot send', 2, { chainNow: () => now }, 'takes no swaps now. Try again in a few seconds.'],
  [
    'needs gas',
    1,
    { chainNow: () => now, needs: (chainId) => [`gas on ${chainId}`, 'more'] },
    'takes no swaps now: gas on 1. Try again in a few seconds.',
  ],
])(
  '503 CHAIN_UNAVAILABLE answers an order of any size while a chain %s: %i',
  async (_, chainId, facts, why) => {
    const only = {
      chainNow: (id: number) => (id === chainId ? undefined : now),
      canSend: (id: number) => id !== chainId,
    }

    // Above the largest input.
    const amount = String(2n * 10n ** 12n)
    expect(await refusal({ amount }, { deps: { market: { ...market, ...only, ...facts } } })).toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
      message: `Chain chain ${chainId} ${why}`,
      details: { chainId },
    })
  },
)

test('503 CHAIN_UNAVAILABLE answers while finality of a chain is too slow', async () => {
  const chainNow = () => ({ ...now, finalitySeconds: 1_000 })

  expect((await refusal({}, { deps: { market: { ...market, chainNow } } })).message).toMatch(
    /^Finality of chain 1 takes/,
  )
})

test('no two quotes have one id, and an id has 128 bits', async () => {
  const ids = new Set<string>()
  for (let count = 0; count < 600; count += 1) ids.add(openToken(await ask()).quoted.id)

  expect(ids.size).toBe(600)
  expect(new Set([...ids].map((id) => Buffer.from(id, 'base64url').length))).toEqual(new Set([16]))
})

test('a quote of an exact output promises that output', async () => {
  const reply = await ask({ tradeType: 'exactOutput', amount: '995750' })

  expect(reply).toMatchObject({ output: '995750', minOutput: '995750', input: '1000000' })
})

test('the name that the caller gives is answered and sealed', async () => {
  const reply = await ask({ externalId: 'order-4711' })

  expect([reply.externalId, openToken(reply).quoted.externalId]).toEqual(['order-4711', 'order-4711'])
})

test('a wallet that is not known to be delegated pays for its delegation', async () => {
  const reply = await ask({}, { deps: { isKnownDelegated: () => false } })

  expect(reply.output).toBe('993750')
})

test('each way in has its own price, and one that the amount is too small for is left out', async () => {
  const methodsOf = async (amount: string) => {
    const reply = await ask({ amount })
    return { quoted: openToken(reply).quoted, methods: reply.originMethods }
  }
  const delegation = { method: 'delegation', input: '1000000', output: '995750', minOutput: '990771' }
  const authorization = { method: 'authorization', input: '1000000', output: '992750', minOutput: '987786' }
  const deposit = { method: 'deposit', input: '1000000', output: '396750', minOutput: '394766' }

  expect((await methodsOf('1000000')).methods).toEqual([delegation, authorization, deposit])
  expect((await methodsOf('1000000')).quoted.ways?.authorization).toEqual({
    ...{ amountIn: 1_000_000n, amountOut: 992_750n, swappable: 992_750n, payAmount: 992_750n },
    ...{ minOutput: 987_786n, priceFloor: 991_510n, valueCents: 100n, integratorFee: 0n },
    ...{ fastOutput: 0n, riskPremium: 0n },
  })
  expect((await methodsOf('500000')).methods?.map(({ method }) => method)).toEqual([
    'delegation',
    'authorization',
  ])
})

test('a chain that knows no other way has only the delegation, and Solana has no list of ways', async () => {
  const { ways: _, ...plain } = costs
  const chainNow = () => ({ seconds: 0, block: 1n, height: 1n, costs: plain })
  const evm = await ask({}, { deps: { market: { ...market, chainNow } } })
  const solana = await ask({ originChain: 3, recipient: '0xb' })

  expect(evm.originMethods?.map(({ method }) => method)).toEqual(['delegation'])
  expect(openToken(evm).quoted.ways).toBeUndefined()
  expect(solana.origin).toBe('solana')
  expect(solana.originMethods).toBeUndefined()
})

test('a payer on Solana pays what its way costs more than the transaction that the service writes', async () => {
  const chainNow = () => ({ ...now, costs: { ...costs, ways: { payment: costs.lock + 500n } } })
  const deps = { market: { ...market, chainNow } }
  const order = { originChain: 3, recipient: '0xb' }

  const [usual, paid] = [await ask(order, { deps }), await ask(order, { deps, isPayment: true })]

  expect(BigInt(usual.output) - BigInt(paid.output)).toBe(500n)
})

test.each<[string, Partial<QuoteDeps>]>([
  ['from memory', { earnedBy: () => silver }],
  ['once the holdings are read', { earnedBy: async () => silver }],
])('a discount is shown %s', async (_, own) => {
  const reply = await ask({}, { deps: own })

  expect(reply).toMatchObject({ feeBps: 10, output: '996000', feeDiscount })
})
const silver = { tier: { name: 'silver', holding: toHeld('1'), percent: 20 } }
const feeDiscount = { tier: 'silver', discountPercent: 20, baseFeeBps: 12.5 }

test('a fee without known holdings is quoted with a warning', async () => {
  const { warnings } = await ask({}, { deps: { earnedBy: () => ({ isUncertain: true }) } })

  expect(warnings?.map(({ code }) => code)).toEqual(['DISCOUNT_UNKNOWN'])
})

test('an account may add a fee up to its maximum, which the token carries', async () => {
  const fees = { ...deps.fees, accounts: [{ account: 'acct', maxIntegratorCentiBps: 2_000 }] }
  const reply = await ask({ integratorFeeCentiBps: 2_000 }, { deps: { fees } })

  expect(reply.fees[1]).toEqual({ kind: 'integratorFee', amount: '2000', usd: '0.00' })
  expect(reply.output).toBe('993750')
  expect(openToken(reply).quoted.integratorFee).toBe(2_000n)
  expect(openToken(reply).quoted.ways?.authorization?.integratorFee).toBe(2_000n)
  expect((await refusal({ integratorFeeCentiBps: 2_001 }, { deps: { fees } })).code).toBe('INVALID_REQUEST')
})

test('taking what is scarce costs, and bringing it gains within the fee', async () => {
  const rebalancing = { maxCentiBps: 1_000, targets: [] }
  const rateOf = async (one: bigint, two: bigint) => {
    const holds = { ...market, available: (chainId: number) => (chainId === 1 ? one : two) }
    const { fees } = await ask({}, { deps: { market: holds, rebalancing } })
    return fees.find(({ kind }) => kind === 'rebalancing')?.amount
  }

  expect(await rateOf(10n ** 12n, 10n ** 12n)).toBeUndefined()
  expect(await rateOf(10n ** 12n, 10n ** 6n)).toBe('1000')
  expect(await rateOf(0n, 10n ** 12n)).toBe('-999')
})

test('a recipient without an account pays its rent, and a chain may demand a least output', async () => {
  const inspect = (rent: bigint, leastOutput: bigint) => ({
    deps: { inspectRecipient: async () => ({ kind: 'payable' as const, rent, leastOutput }) },
  })

  expect(openToken(await ask({}, inspect(0n, 0n))).quoted.createsAccount).toBe(false)
  const reply = await ask({}, inspect(50_000n, 0n))
  expect(reply.output).toBe('945750')
  expect(openToken(reply).quoted.createsAccount).toBe(true)
  expect((await refusal({}, inspect(0n, 995_751n))).code).toBe('NEEDS_LARGER_SIZE')
  expect((await ask({}, inspect(0n, 995_750n))).output).toBe('995750')
})

test('400 INVALID_REQUEST says why a recipient cannot be paid', async () => {
  const inspectRecipient = async () => ({ kind: 'refused' as const, why: 'its account is frozen' })

  const { code, details } = await refusal({}, { deps: { inspectRecipient } })

  const message = 'cannot receive this token on chain 2: its account is frozen'
  expect({ code, details }).toEqual({
    code: 'INVALID_REQUEST',
    details: { issues: [{ field: 'recipient', message }] },
  })
})

test('400 INVALID_REQUEST refuses a recipient that is the address of a deposit', async () => {
  const { code, details } = await refusal({ recipient: '0xde' })

  const message = "cannot receive this token on chain 2: it is the address of a swap's deposit"
  expect({ code, details }).toEqual({
    code: 'INVALID_REQUEST',
    details: { issues: [{ field: 'recipient', message }] },
  })
  expect((await ask({ recipient: '0xb' })).output).toBe((await ask()).output)
})

test('the amount max is the whole balance', async () => {
  const readBalance = async () => 2_000_000n

  expect((await ask({ amount: 'max' }, { deps: { readBalance } })).input).toBe('2000000')
  expect(await refusal({ amount: 'max', tradeType: 'exactOutput' }, { deps: { readBalance } })).toMatchObject(
    {
      code: 'INVALID_REQUEST',
      details: { issues: [{ field: 'amount', message: 'can be max only with tradeType exactInput' }] },
    },
  )
})

test('422 INSUFFICIENT_BALANCE answers max of a wallet without the token', async () => {
  expect(await refusal({ amount: 'max' })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    message: '0xa holds no USDC on chain 1. Fund it, or choose another token.',
    recovery: { token: '0xc', chainId: 1, balance: '0' },
  })
})

test.each<[string, StopScope, string, number]>([
  ['the input’s chain', { kind: 'part', chainId: 1 }, 'of USDC on chain 1', 1],
  ['the output’s chain', { kind: 'part', chainId: 2 }, 'of USDC on chain 2', 2],
  ['the asset everywhere', { kind: 'part', asset: 'USDC' }, 'of USDC on chain 1', 1],
  [
    'the route',
    { kind: 'route', from: { chainId: 1, token: '0xc' }, to: { chainId: 2, token: '0xc' } },
    'from USDC on chain 1 to USDC on chain 2',
    2,
  ],
])('503 CHAIN_UNAVAILABLE names the part that a stop of %s covers', async (_, scope, what, chainId) => {
  const findStop = () => ({ id: '1', why: 'operator' as const, scope, note: '', by: '', since: new Date(0) })

  expect(await refusal({}, { deps: { findStop } })).toMatchObject({
    code: 'CHAIN_UNAVAILABLE',
    message: `Swaps ${what} are stopped for now. Try again later, or choose another route.`,
    details: { chainId, stopped: true },
    recovery: { retryAfterMs: 30_000 },
  })
})

test('403 FORBIDDEN answers a recipient that the key may not pay', async () => {
  expect((await refusal({}, { rules: { recipients: ['0xb'] } })).code).toBe('FORBIDDEN')
  expect((await ask({ recipient: '0xb' }, { rules: { recipients: ['0xb'] } })).origin).toBe('evm')
})

test('422 KEY_LIMIT_EXCEEDED names the largest amount within the limits of the key', async () => {
  const spent = (cents: bigint) => ({
    readSpentCents: async () => cents,
    readWalletCents: async () => cents,
  })
  const most = async (rules: KeyRules, spentCents = 0n) => {
    const { code, recovery } = await refusal({}, { rules, deps: spent(spentCents) })
    return { code, most: recovery?.maxAmount }
  }
  const code = 'KEY_LIMIT_EXCEEDED'

  expect((await ask({}, { rules: { maxSwapCents: 100 } })).input).toBe('1000000')
  expect((await ask({}, { rules: { maxDayCents: 150 }, deps: spent(50n) })).input).toBe('1000000')
  expect(await most({ maxSwapCents: 99 })).toEqual({ code, most: '990000' })
  expect(await most({ maxDayCents: 150 }, 51n)).toEqual({ code, most: '990000' })
  expect(await most({ maxDayCents: 150 }, 150n)).toEqual({ code, most: '0' })
  expect(await most({ maxDayCents: 250, maxWalletDayCents: 150 }, 51n)).toEqual({ code, most: '990000' })
})

test('an input above the exposure cap is quoted with the time to finality, or refused by a time limit', async () => {
  const slow = await ask({ amount: '10000001' })
  expect(slow.etaSeconds).toBe(128)
  expect(slow.warnings?.map(({ code }) => code)).toEqual(['SLOW_SETTLEMENT'])

  expect((await ask({ amount: '10000000', maxEtaSeconds: 2 })).etaSeconds).toBe(2)
  expect((await ask({ amount: '10000001', maxEtaSeconds: 128 })).etaSeconds).toBe(128)
  expect(await refusal({ amount: '10000001', maxEtaSeconds: 127 })).toMatchObject({
    code: 'INSUFFICIENT_LIQUIDITY',
    details: { etaSeconds: 128 },
    recovery: { maxAmount: '10000000' },
  })
})
