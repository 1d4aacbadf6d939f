import type {
  OperatorBooks,
  OperatorEarnings,
  OperatorHolding,
  OperatorOverview,
  OperatorSender,
  OperatorStop,
} from '@geoswap/wire'
import type { Pool } from 'pg'
import { formatUnits } from 'viem'
import { createRecent } from '../../async/cache.ts'
import type { GasWatch } from '../../engine/gas-watch.ts'
import type { Views } from '../../engine/views.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { CapsOf } from '../../market/claim-limits.ts'
import type { PriceBook } from '../../market/prices/book.ts'
import type { DailyNeeds } from '../../market/swap-times.ts'
import {
  type Exposure,
  readClaimMarginUsed,
  readEndedSwaps,
  readExposure,
  readOpenSwaps,
  readSeries,
} from '../../store/figures.ts'
import { type Holding, readInventory } from '../../store/inventory.ts'
import { countWorkerLanes } from '../../store/lanes.ts'
import { type LedgerBalance, readLedgerAges, readLedgerBalances } from '../../store/ledger.ts'
import { countQuarantined } from '../../store/quarantine.ts'
import { countUnsigned } from '../../store/signed.ts'
import { findActiveStops, raiseStop, resumeStop } from '../../store/stops.ts'
import { countEndpoints } from '../../store/webhook-endpoints.ts'
import { findAlarms } from '../../swap/alarms.ts'
import { toCents, usdE18 } from '../../swap/amount.ts'
import { type Books, type GasDay, type LedgerAccount, rentOf } from '../../swap/books.ts'
import type { Catalog, CatalogChain, Market, Token } from '../../swap/catalog.ts'
import { type Bucket, bucketSecondsOf, fillBuckets, firstBucketOf } from '../../swap/series.ts'
import type { ServedChain } from '../../swap/served-chain.ts'
import { describeScope, type QuoteStop } from '../../swap/stop.ts'
import type { OperatorPort } from './server.ts'

type Parts = {
  /** The name of the network. */
  network: string
  pool: Pool
  /** Connects as the only role of the API that may raise and resume stops. */
  stopsPool: Pool
  chains: readonly ServedChain[]
  capsOf: CapsOf
  catalog: Catalog
  market: Market & { prices: PriceBook }
  gas: Pick<GasWatch, 'keys' | 'floats'>
  views: Pick<Views, 'of'>
  dailyNeeds: { read(): Promise<DailyNeeds> }
  earnings: { read(): Promise<Books & { gas: GasDay[] }> }
  /** Whether a pool sells the token, so that the vault need not hold any. */
  isBought(token: Token): boolean
}

// Shared by concurrent viewers.
const OVERVIEW_MS = 1_000
const SERIES_MS = 15_000

/** The operator's reads and switches. Waits for the database, never for a node. */
export function createOperator(parts: Parts): OperatorPort {
  const { pool, stopsPool, catalog } = parts
  const overview = createRecent(OVERVIEW_MS, () => readOverview(parts))
  const seriesOf = (hours: number) => createRecent(SERIES_MS, () => readWindow(pool, hours))
  const series = { '1': seriesOf(1), '6': seriesOf(6), '24': seriesOf(24), '72': seriesOf(72) }
  return {
    overview: overview.read,
    series: (hours) => series[hours].read(),
    async pause({ scope, note, by }) {
      assertServed(catalog, scope)
      const stop = { why: 'operator', scope: { kind: 'part', ...scope }, note: note.trim(), by } as const
      const raised = await raiseStop(stopsPool, stop)
      overview.forget()
      return raised
    },
    async resume({ id, note, by }) {
      const isOver =
        /^[1-9][0-9]{0,17}$/.test(id) && (await resumeStop(stopsPool, { id, by, note: note.trim() }))
      overview.forget()
      if (!isOver) throw new ServiceError('NOT_FOUND', { message: 'There is no such stop, or it is over.' })
      return { id }
    },
  }
}

/** Refuses a scope that is not served: such a stop would have no effect. */
function assertServed({ chains, assets }: Catalog, scope: { chainId?: number; asset?: string }): void {
  if (scope.chainId !== undefined && !chains.has(scope.chainId))
    throw invalidRequest({
      field: 'scope.chainId',
      message: `must be one of ${[...chains.keys()].join(', ')}`,
    })
  if (scope.asset !== undefined && !assets.has(scope.asset))
    throw invalidRequest({ field: 'scope.asset', message: `must be one of ${[...assets.keys()].join(', ')}` })
}

async function readWindow(pool: Pool, hours: number) {
  const now = new Date()
  const bucketSeconds = bucketSecondsOf(hours)
  const found = await readSeries(pool, { from: firstBucketOf(now, hours), bucketSeconds })
  const buckets = fillBuckets(found, { now, hours }).map(toWireBucket)
  return { hours, bucketSeconds, buckets }
}

function toWireBucket({ at, volumeCents, ...bucket }: Bucket) {
  return { ...bucket, at: at.toISOString(), volumeCents: volumeCents.toString() }
}

async function readOverview(parts: Parts): Promise<OperatorOverview> {
  const { network, pool, chains, capsOf, catalog, market, isBought } = parts
  const isLow = (chain: string, address: string) =>
    parts.gas.keys().some((key) => key.isLow && key.chain === chain && key.address === address)
  const senders = readSenderBalances(chains, parts.views, isLow)
  const [dailyNeed, earned] = await Promise.all([parts.dailyNeeds.read(), parts.earnings.read()])
  const [
    open,
    claimMarginUsed,
    unsigned,
    quarantined,
    ended,
    exposure,
    inventory,
    lanesHeld,
    ages,
    balances,
    stops,
    endpoints,
  ] = await Promise.all([
    readOpenSwaps(pool),
    readClaimMarginUsed(pool),
    countUnsigned(pool),
    countQuarantined(pool),
    readEndedSwaps(pool),
    readExposure(pool),
    readInventory(pool),
    countWorkerLanes(pool),
    readLedgerAges(pool),
    readLedgerBalances(pool),
    findActiveStops(pool),
    countEndpoints(pool),
  ])
  const watched = {
    chains: chains.map((chain) => toChain(chain, { capsOf, market, catalog, exposure })),
    inventory: toHoldings(inventory, catalog, { market, dailyNeed, isBought }),
    senders,
    gasFloats: parts.gas.floats().map(({ chain, address, topUpsLeft }) => ({ chain, address, topUpsLeft })),
    lanesHeld,
    swaps: { open: open.map(toOpen), claimMarginUsed, unsigned, quarantined, ended: ended.map(toEnded) },
    prices: market.prices.assets.map((asset) => toPrice(asset, market.prices)),
    books: { chains: ages.map(toAge), balances: toBooks(balances, catalog) },
    stops: stops.map(toStop),
    webhooks: { failing: endpoints?.failing ?? 0, disabled: endpoints?.disabled ?? 0 },
  }
  return {
    at: new Date().toISOString(),
    network,
    alarms: findAlarms(watched),
    assets: [...catalog.assets.keys()],
    earnings: toEarnings(earned, catalog),
    ...watched,
  }
}

type Seen = Pick<Parts, 'market' | 'catalog' | 'capsOf'> & { exposure: readonly Exposure[] }

function toChain(
  { chainId, name, family, nodes, hardSeconds }: ServedChain,
  { market, catalog, capsOf, exposure }: Seen,
): OperatorOverview['chains'][number] {
  const caps = capsOf(chainId)
  const now = market.chainNow(chainId)
  const closed = closedOn(catalog.chains.get(chainId))
  const {
    cents = 0n,
    lostCents = 0n,
    unclaimedCents = 0n,
  } = exposure.find((each) => each.chainId === chainId) ?? {}
  return {
    chainId,
    name,
    family,
    isLive: now !== undefined,
    nodes,
    block: now?.block.toString(),
    finalitySeconds: hardSeconds,
    measuredFinalitySeconds: now?.finalitySeconds,
    attesterChangeAt: now?.attesterChange && new Date(now.attesterChange.since * 1_000).toISOString(),
    closed: closed.length > 0 ? closed : undefined,
    exposedCents: cents.toString(),
    lostCents: lostCents.toString(),
    exposureCapCents: caps.fastCents.toString(),
    unclaimedCents: unclaimedCents.toString(),
    unclaimedCapCents: caps.unclaimedCents.toString(),
  }
}

function closedOn(chain: CatalogChain | undefined) {
  return (chain?.tokens ?? []).flatMap(({ address, symbol }) => {
    const why = chain?.whyClosed?.(address)
    return why === undefined ? [] : [{ token: address, symbol, why }]
  })
}

/** In the order of the catalog, without tokens that are no longer served. */
function tokensOf(catalog: Catalog): Token[] {
  return [...catalog.chains.values()].flatMap(({ tokens }) => tokens)
}

const isOf = (token: Token) => (row: { chainId: number; token: string }) =>
  row.chainId === token.chainId && row.token === token.address

type Judged = { market: Market; dailyNeed: DailyNeeds; isBought(token: Token): boolean }

function toHoldings(holdings: readonly Holding[], catalog: Catalog, judged: Judged): OperatorHolding[] {
  return tokensOf(catalog).flatMap((token) => {
    const found = holdings.find(isOf(token))
    if (!found) return []
    const { chainId, address, symbol, decimals, asset } = token
    const { held, reserved } = found
    const price = judged.market.priceOf(asset)
    return [
      {
        chainId,
        token: address,
        symbol,
        decimals,
        asset,
        held: held.toString(),
        reserved: reserved.toString(),
        isBought: judged.isBought(token),
        dailyNeed: judged.dailyNeed(chainId, address).toString(),
        heldCents: price === undefined ? undefined : toCents(usdE18(held, { decimals, price })).toString(),
      },
    ]
  })
}

const toOpen = ({ state, count, seconds }: Awaited<ReturnType<typeof readOpenSwaps>>[number]) => ({
  state,
  count,
  oldestSeconds: Math.max(0, seconds),
})

type Status = OperatorOverview['swaps']['ended'][number]['status']

const toEnded = ({ status, reason, count }: Awaited<ReturnType<typeof readEndedSwaps>>[number]) => ({
  status: status as Status,
  reason,
  count,
})

const toAge = ({ chainId, seconds }: { chainId: number; seconds: number }) => ({
  chainId,
  ageSeconds: Math.max(0, seconds),
})

function toPrice(asset: string, book: PriceBook): OperatorOverview['prices'][number] {
  const { price } = book.referenceOf(asset)
  const feeds = book.feedsOf(asset).map(({ feed, price, problem }) => ({
    feed,
    price: price !== undefined ? formatUnits(price, 18) : undefined,
    problem,
  }))
  return { asset, price: price !== undefined ? formatUnits(price, 18) : undefined, feeds }
}

function toBooks(balances: readonly LedgerBalance[], catalog: Catalog): OperatorBooks['balances'] {
  return tokensOf(catalog).flatMap((token) => {
    const accounts = balances.filter(isOf(token))
    if (accounts.length === 0) return []
    const { chainId, address, symbol, decimals } = token
    const amountOf = (name: LedgerAccount) =>
      (accounts.find(({ account }) => account === name)?.amount ?? 0n).toString()
    return [
      {
        chainId,
        token: address,
        symbol,
        decimals,
        locked: amountOf('locked'),
        owed: amountOf('owed'),
        inventory: amountOf('inventory'),
        unexplained: amountOf('unexplained'),
      },
    ]
  })
}

function toStop({ id, why, scope, note, by, since }: QuoteStop): OperatorStop {
  const { kind: _, ...fields } = scope
  return { id, why, scope: fields, what: describeScope(scope), note, by, since: since.toISOString() }
}

/** The earnings and costs of swaps. Chains that are no longer served are left out. */
export function toEarnings(
  { routes, gas }: Books & { gas: readonly GasDay[] },
  catalog: Catalog,
): OperatorEarnings {
  return {
    routes: routes
      .filter(({ originChain, destinationChain }) =>
        [originChain, destinationChain].every((chainId) => catalog.chains.has(chainId)),
      )
      .map(({ accounts: _, volumeCents, earnedE6, networkE6, profitE6, ...route }) => ({
        ...route,
        volumeCents: volumeCents.toString(),
        earned: earnedE6.toString(),
        network: networkE6.toString(),
        profit: profitE6.toString(),
      })),
    gas: gas.flatMap(({ day, chainId, amount, usdE6 }) => {
      const coin = catalog.chains.get(chainId)?.native
      if (!coin) return []
      const { symbol, decimals } = coin
      const rent = rentOf(routes, { day, chainId, amount }).toString()
      return [{ day, chainId, symbol, decimals, amount: amount.toString(), usd: usdE6.toString(), rent }]
    }),
  }
}

type IsLow = (chain: string, address: string) => boolean

// Balances older than this are not shown.
const KNOWN_FOR_MS = 60_000

/** Native balances of all sending keys, from the chains' views. */
function readSenderBalances(
  chains: readonly ServedChain[],
  views: Pick<Views, 'of'>,
  isLow: IsLow,
): OperatorSender[] {
  function show(chain: ServedChain, role: OperatorSender['role'], address: string): OperatorSender {
    const { chainId, name, coin, retiring } = chain
    const state = views.of(chainId).part('state')
    const balance = state && state.ageMs < KNOWN_FOR_MS ? state.value.balances[address] : undefined
    return {
      chainId,
      address,
      role,
      isRetiring: retiring.includes(address),
      isLow: isLow(name, address),
      symbol: coin.symbol,
      decimals: coin.decimals,
      balance: balance?.toString(),
    }
  }
  return chains.flatMap((chain) => [
    ...chain.senders.relay.map((address) => show(chain, 'relay', address)),
    ...chain.senders.authorize.map((address) => show(chain, 'authorize', address)),
    ...chain.senders.deliver.map((address) => show(chain, 'deliver', address)),
  ])
}
