import { within } from '../async/timing.ts'
import { families, familyOf } from '../chains/families.ts'
import type { Config, NetworkConfig } from '../config.ts'
import type { GasWatch } from '../engine/gas-watch.ts'
import type { Views } from '../engine/views.ts'
import { networkOf } from '../http/address-limit.ts'
import { DEFAULT_LIMITS } from '../http/rate-limit.ts'
import { BODY_LIMIT, type Handlers } from '../http/server.ts'
import { createEarnedBy } from '../market/earned.ts'
import { type LiveMarket, lockUsdE6 } from '../market/market.ts'
import type { StopTable } from '../market/stop-table.ts'
import type { JsonValue, Purpose, Sealer } from '../seal/sealer.ts'
import { type BuildDeps, buildGeoOp, type SealedOp } from '../stages/build/build-evm.ts'
import { buildSolanaTx, offerSolana, type SealedInput } from '../stages/build/build-solana.ts'
import { delegation, readHolder, readOrUnavailable } from '../stages/build/delegation.ts'
import { type CapabilityDeps, capabilities } from '../stages/catalog/capabilities.ts'
import { listChains, listTokens } from '../stages/catalog/list.ts'
import { history } from '../stages/history/history.ts'
import { type QuoteDeps, quote } from '../stages/quote/quote.ts'
import type { AddressesOf, Order } from '../stages/quote/request.ts'
import type { StatusReads } from '../stages/status/wait.ts'
import { type SubmitDeps, submit } from '../stages/submit/submit-evm.ts'
import { submitPaid, submitSolana } from '../stages/submit/submit-solana.ts'
import { createOpenOffers, type Opened, rulesWithin, shareOf } from '../stages/x402/open-offers.ts'
import { type X402Deps, x402 } from '../stages/x402/x402.ts'
import { readSpentCents, readWalletCents } from '../store/api-keys.ts'
import { isDepositAddress } from '../store/deposits.ts'
import { findPayable } from '../store/ops.ts'
import { hasActiveEndpoint } from '../store/webhook-endpoints.ts'
import { shareOfLeft } from '../swap/budgets.ts'
import { type Catalog, findToken, type Market, type Token } from '../swap/catalog.ts'
import { mayUseContracts } from '../swap/key-rules.ts'
import { fromSealed } from '../swap/quote.ts'
import { activeSenders } from '../swap/served-chain.ts'
import type { Venue } from '../swap/venue.ts'
import { buyingVenues, createVenues as createAll } from '../venues/registry.ts'
import type { Chains } from './chains.ts'
import { judgePrices } from './prices.ts'
import type { OpenScreening } from './screening.ts'
import { MAX_HELD_PER_ACCOUNT } from './status.ts'

const MAX_UNSUBMITTED = 256
// The part of it that one wallet without a key may use up.
const WALLET_PARTS = 4
// A silent connection is cut after 30 seconds.
const PAYMENT_WAIT_MS = 20_000
// Heads of an idle Solana chain are read every 1.4 seconds.
const RECENT_MS = 2_000

export type ApiParts = {
  pool: BuildDeps['pool']
  chains: Chains
  catalog: Catalog
  market: Market & Pick<LiveMarket, 'prices'>
  gas: GasWatch
  views: Views
  venues: readonly Venue[]
  times: Pick<QuoteDeps, 'etaSecondsOf'>
  stops: StopTable
  screening: OpenScreening | undefined
  sealer: Sealer
  statusReads: Pick<StatusReads, 'read'>
  onFault(error: unknown, source: string): void
}

const addressesOf: AddressesOf = (chain) => familyOf(chain).addresses

function parseWallet(text: string): string | undefined {
  for (const { addresses } of families) {
    const wallet = addresses.parse(text)
    if (wallet) return wallet
  }
}

/** The calls of the API, each with its dependencies. */
export function createHandlers(config: Config, parts: ApiParts): Handlers {
  const { pool, chains, catalog, market } = parts
  const tokens = createTokens(parts.sealer)
  const known = createKnownWallets()
  const now = Date.now
  const originOf = (chainId: number) => chains.of(chainId).chain
  const builderOf = (chainId: number) => chains.of(chainId).builder
  const contractsOf = (chainId: number) => chains.of(chainId).contracts
  const storeDeps = {
    pool,
    catalog,
    market,
    custodyOf: chains.custodyOf,
    maxUnsubmitted: MAX_UNSUBMITTED,
    gasBudgets: config.network.budgets.wastedGas,
    maxUnsubmittedCents: BigInt(config.network.unsubmittedCapUsd) * 100n,
    lockersOf(chainId: number, { hasDelegation }: { hasDelegation: boolean }) {
      const keys = activeSenders(chains.of(chainId), hasDelegation ? 'authorize' : 'relay')
      const able = keys.filter((locker) => parts.gas.canSend(chainId, locker))
      const free = able.filter((locker) => parts.gas.isFree(chainId, locker))
      return free.length > 0 ? free : able
    },
    deadlines: config.network.deadlines,
    fees: config.network.fees,
  }
  const buildDeps: BuildDeps = {
    ...storeDeps,
    ...tokens,
    originOf,
    contractsOf,
    now,
    rememberDelegated: known.add,
    isForDelegations: (chainId, locker) => chains.of(chainId).senders.authorize.includes(locker),
  }
  // Many wallets share the account of callers without a key.
  const buildDepsOf = (caller: Ruled) =>
    partsFor(caller) === 1 ? buildDeps : { ...buildDeps, walletParts: WALLET_PARTS }
  const delegationDeps = {
    catalog,
    originOf,
    rememberDelegated: known.add,
    addressesOf,
    delegationTargetOf: (chainId: number) => contractsOf(chainId)?.account,
  }
  const quoteDeps = toQuoteDeps(config, parts, { sealQuote: tokens.sealQuote, isKnownDelegated: known.has })
  const recentHeadsOf = (chainId: number) => parts.views.of(chainId).recent(RECENT_MS)
  const buildSolanaDeps = { ...storeDeps, ...tokens, builderOf, recentHeadsOf, now }
  const limits = {
    gas: config.network.budgets.wastedGas,
    reservations: config.network.budgets.reservations,
    lockUsdE6: (chainId: number) => lockUsdE6(market, catalog, chainId),
  }
  const { paidNow } = judgePrices(config, catalog, market.prices)
  const onceDeps = { pool, limits, paidNow, screening: parts.screening }
  const submitDeps: SubmitDeps = {
    ...onceDeps,
    openOp: tokens.openOp,
    originOf,
    within,
  }
  const submitSolanaDeps = { ...onceDeps, market, openInput: tokens.openInput, builderOf }
  const share = shareOf({ ...storeDeps, ...config.network.connections })
  const offers = createOpenOffers(share)
  const builds = createOpenOffers(share)
  const maxWalletDayCents = (config.network.x402?.dailyUsdPerWallet ?? 0) * 100
  const catalogDeps = {
    catalog,
    market,
    venues: parts.venues,
    isStopped: (side: Parameters<StopTable['ofSide']>[0]) => parts.stops.ofSide(side) !== undefined,
  }
  return {
    chains: () => listChains(catalogDeps),
    capabilities: (caller) => capabilities(toCapabilityDeps(config.network, parts, partsFor(caller)), caller),
    tokens: (_caller, query) => listTokens(catalogDeps, query),
    quote: (caller, body) => quote(quoteDeps, caller, body),
    delegation: (_caller, query) => delegation(delegationDeps, query),
    buildGeoOp(caller, body) {
      const { accountId, network } = caller
      const build = () => buildGeoOp(buildDepsOf(caller), accountId, body, mayUseContracts(caller))
      if (network === undefined) return build()
      const { valueCents } = tokens.openQuote(accountId, body.geoQuoteToken)
      return builds.open(network, valueCents, async () => {
        const built = await build()
        const { opId: name } = tokens.openOp(accountId, built.geoOpToken)
        return { built, name, expiresAt: Date.parse(built.expiresAt) }
      })
    },
    buildSolanaTx: (caller, body) => buildSolanaTx(buildSolanaDeps, caller.accountId, body),
    async submit(caller, body) {
      const submitted = await submit(submitDeps, caller, body)
      // An input that is to be sent goes on waiting.
      if (caller.network !== undefined && body.signature !== undefined)
        builds.close(tokens.openOp(caller.accountId, body.geoOpToken).opId)
      return submitted
    },
    submitSolana: (caller, body) => submitSolana(submitSolanaDeps, caller, body),
    history: (caller, query) =>
      history({ pool, catalog, parseWallet }, caller.accountId, query, caller.rules),
    x402({ rules: given, ...asking }, call, onHeld) {
      const { accountId } = asking
      const rules = { ...rulesWithin(share, given), maxWalletDayCents }
      const caller = { ...asking, rules }
      const waitsUntil = now() + PAYMENT_WAIT_MS
      const leftMs = () => Math.max(0, waitsUntil - now())
      const openOffer = <T>(geoQuoteToken: string, build: () => Promise<Opened<T>>) =>
        offers.open(networkOf(call.address), tokens.openQuote(accountId, geoQuoteToken).valueCents, build)
      const deps: X402Deps = {
        catalog,
        now,
        quote: (request) => quote(quoteDeps, { ...caller, isPayment: true }, request),
        build(geoQuoteToken) {
          const request = { geoQuoteToken, method: 'payment' } as const
          return openOffer(geoQuoteToken, async () => {
            const built = await buildGeoOp(buildDeps, accountId, request, mayUseContracts(caller))
            return { built, name: built.depositAddress ?? '', expiresAt: Date.parse(built.expiresAt) }
          })
        },
        transfers: {
          takes: ({ chainId }) => builderOf(chainId) !== undefined,
          offer: (geoQuoteToken) =>
            openOffer(geoQuoteToken, async () => {
              const { opHash: name, ...built } = await offerSolana(buildSolanaDeps, accountId, geoQuoteToken)
              return { built, name, expiresAt: built.expiresAt.getTime() }
            }),
          read: async (chainId, transaction) => builderOf(chainId)?.readPaid(transaction),
          submit: ({ id }, paid) => submitPaid(onceDeps, caller, id, paid),
        },
        closeOffer: offers.close,
        findOp: (name) => findPayable(pool, { accountId, name: parseWallet(name) ?? name }),
        submit: ({ id }, signature) =>
          submit(submitDeps, caller, { geoOpToken: tokens.sealOp(accountId, { opId: id }), signature }),
        readStatus: (swapId, { isHeld }) =>
          parts.statusReads.read({ accountId, swapId, waitMs: isHeld ? leftMs() : 0, onHeld }),
      }
      return x402(deps, call)
    },
  }
}

type Ruled = Parameters<typeof mayUseContracts>[0]

const partsFor = ({ rules }: Ruled): number => (rules.wallet === undefined ? 1 : WALLET_PARTS)

function toCapabilityDeps(
  network: NetworkConfig,
  { pool, catalog, market }: ApiParts,
  callers: number,
): CapabilityDeps {
  const { discount, rebalancing, screening, fees, quoteTtlMs, unsubmittedCapUsd } = network
  return {
    catalog,
    market,
    fees,
    configured: {
      fast: network.chains.some(hasFastWay),
      discounts: discount !== undefined,
      rebalancing: rebalancing !== undefined,
      screening: (screening?.sources.length ?? 0) > 0,
      regions: screening?.regions !== undefined,
      x402: network.x402 !== undefined,
      keyless: network.keyless !== undefined,
    },
    defaultRates: DEFAULT_LIMITS,
    limits: {
      bodyBytes: BODY_LIMIT,
      heldReads: MAX_HELD_PER_ACCOUNT,
      quoteSeconds: quoteTtlMs / 1_000,
      unsubmitted: MAX_UNSUBMITTED / callers,
    },
    maxUnsubmittedCents: (BigInt(unsubmittedCapUsd) * 100n) / BigInt(callers),
    hasEndpoint: (accountId) => hasActiveEndpoint(pool, accountId),
  }
}

/** Without any cap, the default one for fast swaps is the larger. */
const hasFastWay = ({ exposureCapUsd, fastCapUsd }: NetworkConfig['chains'][number]): boolean =>
  fastCapUsd === undefined ? exposureCapUsd === undefined : fastCapUsd > (exposureCapUsd ?? 0)

type QuoteParts = Pick<QuoteDeps, 'sealQuote' | 'isKnownDelegated'>

function toQuoteDeps({ network }: Config, shared: ApiParts, parts: QuoteParts): QuoteDeps {
  const { chains, catalog, market, venues } = shared
  return {
    ...parts,
    catalog,
    market,
    venues,
    addressesOf,
    now: Date.now,
    findStop: shared.stops.ofSwap,
    screening: shared.screening,
    regions: network.screening?.regions,
    readSpentCents: (keyId) => readSpentCents(shared.pool, keyId),
    readWalletCents: (payer) => readWalletCents(shared.pool, payer),
    isDepositAddress: (address) => isDepositAddress(shared.pool, address),
    inspectRecipient(order: Order) {
      const { destination, recipient, output } = order
      const party = { recipient, token: output.address }
      const inspecting = chains.of(destination.chainId).inspectRecipient?.(party)
      return inspecting && readOrUnavailable(destination, inspecting)
    },
    fees: network.fees,
    rebalancing: network.rebalancing,
    earnedBy: createEarnedBy(network, {
      ...shared,
      readTokenBalance: (chainId, owner, token) => chains.of(chainId).readTokenBalance(owner, token),
    }),
    async readBalance({ origin, wallet, input }) {
      const { chain } = chains.of(origin.chainId)
      return (await readHolder(origin, 1n, () => chain.readWallet({ wallet, token: input.address }))).balance
    },
    highImpactBps: network.highImpactBps,
    tolerance: network.priceTolerance,
    quoteTtlMs: network.quoteTtlMs,
    etaSecondsOf: shared.times.etaSecondsOf,
  }
}

const MAX_WALLETS = 50_000

/** Recently seen delegated wallets, whose quotes need not price a delegation. */
function createKnownWallets() {
  const seen = new Set<string>()
  return {
    has: (chainId: number, wallet: string) => seen.has(`${chainId}:${wallet}`),
    add(chainId: number, wallet: string) {
      if (seen.size >= MAX_WALLETS) seen.clear()
      seen.add(`${chainId}:${wallet}`)
    },
  }
}

/** Sealed tokens: each kind can be opened only by the call that it is for. */
function createTokens(sealer: Sealer) {
  const seal = (purpose: Purpose) => (accountId: string, payload: unknown) =>
    sealer.seal(purpose, accountId, payload as JsonValue)
  return {
    sealQuote: seal('quote'),
    sealOp: seal('op'),
    sealInput: seal('input'),
    openQuote: (accountId: string, token: string) => fromSealed(sealer.open('quote', accountId, token)),
    openOp: (accountId: string, token: string) => sealer.open('op', accountId, token) as unknown as SealedOp,
    openInput: (accountId: string, token: string) =>
      sealer.open('input', accountId, token) as unknown as SealedInput,
  }
}

type Deps = { network: NetworkConfig; views: Views; catalog: Catalog; market: Market }

export function createVenues({ network, views, catalog, market }: Deps): Venue[] {
  const shares = network.budgets.reservations
  return createAll(network, {
    market,
    shareOf: (left) => shareOfLeft(shares, left),
    getToken: (chainId, address) => getToken(catalog, chainId, address),
    curvesOf: (chainId) => views.of(chainId).part('pools'),
  })
}

/** Whether a venue sells the token, so that the vault need not hold any. */
export function isBought(network: NetworkConfig, token: Pick<Token, 'chainId' | 'address'>): boolean {
  return buyingVenues(network, token.chainId).some(({ outputs }) =>
    outputs.some((output) => output === token.address),
  )
}

function getToken(catalog: Catalog, chainId: number, address: string): Token {
  const chain = catalog.chains.get(chainId)
  const token = chain && findToken(chain, address)
  if (!token) throw new Error(`A venue on chain ${chainId} trades ${address}, which is not among its tokens`)
  return token
}
