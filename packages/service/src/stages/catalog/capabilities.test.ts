import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Catalog, CatalogChain, Token } from '../../swap/catalog.ts'
import { type CapabilityDeps, capabilities } from './capabilities.ts'

const coin = { chainId: 1, address: '0x0', symbol: 'ETH', decimals: 18, asset: 'ETH' } satisfies Token
const chain = stub<CatalogChain>({ chainId: 1, family: 'evm', native: coin, tokens: [coin] })
const rates = { quote: 10, build: 10, submit: 10, delegation: 10, status: 20, other: 10 }
const none = {
  fast: false,
  discounts: false,
  rebalancing: false,
  screening: false,
  regions: false,
  x402: false,
  keyless: false,
}

type Facts = { configured?: Partial<typeof none>; fastRoom?: bigint; caller?: object; hasEndpoint?: boolean }

function read({ configured, fastRoom = 0n, caller, hasEndpoint = false }: Facts = {}) {
  const deps: CapabilityDeps = {
    catalog: { chains: new Map([[1, chain]]), assets: new Map() } satisfies Catalog,
    market: { exposureRoom: () => 100n, fastRoom: () => fastRoom },
    configured: { ...none, ...configured },
    fees: { accounts: [{ account: 'earner', maxIntegratorCentiBps: 500 }] },
    defaultRates: rates,
    limits: { bodyBytes: 65_536, heldReads: 1_000, quoteSeconds: 30, unsubmitted: 256 },
    maxUnsubmittedCents: 25_000_000n,
    hasEndpoint: async () => hasEndpoint,
  }
  return capabilities(deps, { accountId: 'acc_1', rules: {}, ...caller })
}

test('ways in are on as far as a token of the service takes them', async () => {
  const { originMethods } = await read()

  expect(originMethods).toMatchObject({
    delegation: { enabled: true },
    deposit: { enabled: true },
    permit: { enabled: false, reason: 'NO_TOKEN' },
    authorization: { enabled: false, reason: 'NO_TOKEN' },
  })
})

test('a feature that the operator left out says so, and one that he has is on without a reason', async () => {
  const { features } = await read({ configured: { screening: true } })

  expect(features.screening).toEqual({ enabled: true })
  expect(features.regions).toEqual({ enabled: false, reason: 'NOT_CONFIGURED' })
})

test('the fast way is off without a cap for it, and while nothing is left of that', async () => {
  const fastOf = async (facts: Facts) => (await read(facts)).features.fast

  expect(await fastOf({ fastRoom: 101n })).toEqual({ enabled: false, reason: 'NOT_CONFIGURED' })
  expect(await fastOf({ configured: { fast: true }, fastRoom: 100n })).toEqual({
    enabled: false,
    reason: 'NO_ROOM',
  })
  expect(await fastOf({ configured: { fast: true }, fastRoom: 101n })).toEqual({ enabled: true })
})

test('the fee of an account and its webhooks depend on the account', async () => {
  const off = await read()
  const on = await read({ caller: { accountId: 'earner' }, hasEndpoint: true })

  expect([off.features.integratorFees.reason, off.features.webhooks.reason]).toEqual([
    'ACCOUNT_NOT_ALLOWED',
    'NO_ENDPOINT',
  ])
  expect([on.features.integratorFees.enabled, on.features.webhooks.enabled]).toEqual([true, true])
  expect(on.limits.integratorFeeCentiBps).toBe(500)
})

test('a publishable key learns nothing about the webhooks of its account', async () => {
  const { features } = await read({ caller: { kind: 'publishable' }, hasEndpoint: true })

  const refused = { enabled: false, reason: 'KEY_NOT_ALLOWED' }
  expect([features.webhooks, features.history, features.contractWallets]).toEqual([refused, refused, refused])
})

test('limits are those of the key and the account, and recipients of the key are not listed', async () => {
  const rules = { maxSwapCents: 50_000, maxDayCents: 1, recipients: ['0xsecret'], tokens: ['1:0x0'] }
  const reply = await read({ caller: { rules, limits: { quote: 3 } } })

  expect(reply.limits).toMatchObject({
    requestsPerSecond: { ...rates, quote: 3 },
    unsubmittedUsd: '250000.00',
    ...{ swapUsd: '500.00', dayUsd: '0.01', tokens: ['1:0x0'], fixedRecipients: true },
  })
  expect(JSON.stringify(reply)).not.toContain('0xsecret')
})
