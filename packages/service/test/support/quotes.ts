import { FAMILIES, type NamedQuoteRequest, type QuoteReply } from '@geoswap/wire'
import { ServiceError } from '../../src/errors.ts'
import { type QuoteDeps, quote } from '../../src/stages/quote/quote.ts'
import type { Catalog, CatalogChain, LegCosts, Market, Token } from '../../src/swap/catalog.ts'
import { defaultFees, uniformFees } from '../../src/swap/fees.ts'
import type { KeyRules } from '../../src/swap/key-rules.ts'
import { fromSealed } from '../../src/swap/quote.ts'
import type { Venue } from '../../src/swap/venue.ts'

// Three chains and a vault, whose swaps of up to 10 USD are paid before finality.

const usdc = (chainId: number): Token => ({
  ...{ chainId, address: '0xc', asset: 'USDC', symbol: 'USDC', decimals: 6 },
  signing: { name: 'USDC', version: '2', methods: ['authorization'] },
})
const eurc = (chainId: number): Token => ({
  ...{ chainId, address: '0xe', asset: 'EURC', symbol: 'EURC', decimals: 6 },
})
const coin = (chainId: number): Token => ({
  ...{ chainId, address: '0x0', asset: 'USDC', symbol: 'GAS', decimals: 6 },
})

function chainOf(chainId: number, family: CatalogChain['family']): CatalogChain {
  const native = coin(chainId)
  return {
    ...{ chainId, name: `chain ${chainId}`, family, native, tokens: [native, usdc(chainId), eurc(chainId)] },
    ...{ ownAddresses: [], maxAmount: 10n ** 30n, blockSeconds: 1 },
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 20, hard: 64, hardSeconds: 64 },
  }
}

const catalog: Catalog = {
  chains: new Map([
    [1, chainOf(1, 'evm')],
    [2, chainOf(2, 'evm')],
    [3, chainOf(3, 'solana')],
  ]),
  assets: new Map([['USDC', { name: 'USD Coin', usdStable: true }]]),
}

export const costs: LegCosts = {
  ...{ lock: 1_000n, firstLock: 3_000n, delivery: 2_000n, purchase: 2_000n, gasPrice: 1n },
  ways: { authorization: 4_000n, permit: 5_000n, deposit: 600_000n },
}
export const market: Market = {
  priceOf: (asset) => (asset === 'EURC' ? undefined : 10n ** 18n),
  exchangeOf: () => ({ input: 10n ** 18n, output: 10n ** 18n }),
  chainNow: () => ({ seconds: 0, block: 1n, height: 1n, costs }),
  canSend: () => true,
  mostInput: () => 10n ** 12n,
  exposureRoom: () => 1_000n,
  available: () => 10n ** 12n,
}

const side = { decimals: 6, price: 10n ** 18n }
const vault: Venue = {
  name: 'vault',
  offer: () => ({
    ...{ venue: 'vault', deliveryCost: 2_000n, payToken: '0xc' },
    curve: { kind: 'depth', input: side, output: side, spreadBps: 0n, impactBps: 0n, depth: 10n ** 12n },
  }),
}

const rule = () => ({ form: 'an address', parse: (text: string) => text, canSign: () => true })
const addressRules = new Map(FAMILIES.map((family) => [family, rule()]))

export const deps: QuoteDeps = {
  ...{ catalog, market, venues: [vault], highImpactBps: 500, quoteTtlMs: 30_000 },
  addressesOf: ({ family }) => addressRules.get(family) ?? rule(),
  findStop: () => undefined,
  inspectRecipient: () => undefined,
  isDepositAddress: async (address) => address === '0xde',
  isKnownDelegated: () => true,
  readSpentCents: () => Promise.reject(new Error('The key has no limit per day')),
  readWalletCents: () => Promise.reject(new Error('The wallet has no limit per day')),
  sealQuote: (accountId, payload) => JSON.stringify([accountId, payload]),
  now: () => 1_000_000,
  fees: { ...defaultFees, ...uniformFees(1_250) },
  rebalancing: undefined,
  earnedBy: () => ({}),
  readBalance: async () => 0n,
  tolerance: { sameAssetBps: 100, stableBps: 100, volatileBps: 100, lockedBps: 300 },
  etaSecondsOf: (_origin, _destination, depth) => depth * 2,
}

export const asked: NamedQuoteRequest = {
  ...{ originChain: 1, destinationChain: 2, inputToken: '0xc', outputToken: '0xc' },
  ...{ amount: '1000000', walletAddress: '0xa' },
}

type Asking = { deps?: Partial<QuoteDeps>; rules?: KeyRules; isPayment?: boolean }

export const ask = async (
  request: Partial<NamedQuoteRequest> = {},
  { deps: own = {}, ...caller }: Asking = {},
): Promise<QuoteReply> =>
  quote(
    { ...deps, ...own },
    { accountId: 'acct', keyId: 'key', rules: {}, ...caller },
    { ...asked, ...request },
  )

export async function refusal(
  request: Partial<NamedQuoteRequest>,
  asking: Asking = {},
): Promise<ServiceError> {
  const error: unknown = await ask(request, asking).catch((each: unknown) => each)
  if (!(error instanceof ServiceError)) throw error
  return error
}

export const openToken = ({ geoQuoteToken }: QuoteReply) => {
  const [accountId, payload] = JSON.parse(geoQuoteToken)
  return { accountId, quoted: fromSealed(payload) }
}
