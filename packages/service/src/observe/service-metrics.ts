import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import type { GasWatch } from '../engine/gas-watch.ts'
import type { Views } from '../engine/views.ts'
import type { CapsOf } from '../market/claim-limits.ts'
import type { PriceBook } from '../market/prices/book.ts'
import type { DailyNeeds } from '../market/swap-times.ts'
import {
  readArchiveAge,
  readClaimMarginUsed,
  readEndedSwaps,
  readExposure,
  readOpenSwaps,
  readStageTimes,
} from '../store/figures.ts'
import { readWastedByChain } from '../store/gas.ts'
import { readInventory } from '../store/inventory.ts'
import { countQuarantined } from '../store/quarantine.ts'
import { countUnsigned } from '../store/signed.ts'
import { lastsPermille, usedPermille } from '../swap/alarms.ts'
import type { Books } from '../swap/books.ts'
import type { Catalog, Token } from '../swap/catalog.ts'
import type { ServedChain } from '../swap/served-chain.ts'
import { addBooksGauge, addGasMetrics, addLedgerGauges, addReading } from './ledger-metrics.ts'
import { addViewMetrics } from './view-metrics.ts'

type Sources = {
  pool: Pool
  chains: readonly ServedChain[]
  capsOf: CapsOf
  catalog: Catalog
  dailyNeeds: { read(): Promise<DailyNeeds> }
  /** The books of today and yesterday. */
  books: { read(): Promise<Books> }
  /** Whether a pool sells the token, so that the vault need not hold any. */
  isBought(token: Pick<Token, 'chainId' | 'address'>): boolean
  prices: Pick<PriceBook, 'assets' | 'feedsOf' | 'referenceOf'>
  gas: Pick<GasWatch, 'keys' | 'floats'>
  views: Pick<Views, 'of'>
}

/** Gauges of money and work, read at each scrape. Those of a source that is down are absent. */
export function addServiceMetrics(registry: Registry, sources: Sources): void {
  addSwapGauges(registry, sources.pool)
  addArchiveGauge(registry, sources.pool)
  addClaimGauges(registry, sources.pool)
  addEndedGauges(registry, sources.pool)
  addExposureGauges(registry, sources)
  addWasteGauge(registry, sources)
  addInventoryGauge(registry, sources)
  addClosedGauge(registry, sources.catalog)
  addViewMetrics(registry, sources)
  addPriceGauge(registry, sources.prices)
  addGasMetrics(registry, sources.gas)
  addLedgerGauges(registry, sources)
  addBooksGauge(registry, sources)
}

function addSwapGauges(registry: Registry, pool: Pool): void {
  const specs = {
    oldest: {
      name: 'geoswap_oldest_swap_seconds',
      help: 'Longest time that an open swap has been in its state.',
      labelNames: ['state'],
    },
    open: {
      name: 'geoswap_swaps',
      help: 'Open swaps. Those that are closed, failed or refunded are not counted.',
      labelNames: ['state'],
    },
  }
  addReading(registry, specs, {
    read: () => readOpenSwaps(pool),
    show(gauges, swaps) {
      for (const { state, count, seconds } of swaps) {
        gauges.open.set({ state }, count)
        gauges.oldest.set({ state }, seconds)
      }
    },
  })
}

export function addArchiveGauge(registry: Registry, pool: Pool): void {
  const age = {
    name: 'geoswap_wal_archive_age_seconds',
    help: 'Seconds since the database last archived its log: what a restore would lose. Absent without archive_mode.',
  }
  addReading(
    registry,
    { age },
    {
      read: () => readArchiveAge(pool),
      show(gauges, seconds) {
        if (seconds !== undefined) gauges.age.set(seconds)
      },
    },
  )
}

function addClaimGauges(registry: Registry, pool: Pool): void {
  const margin = {
    name: 'geoswap_claim_margin_used_ratio',
    help: 'Used part of the time to claim, of the most urgent swap: at 1 anyone can send its input back.',
  }
  addReading(
    registry,
    { margin },
    {
      read: () => readClaimMarginUsed(pool),
      show: (gauges, used) => gauges.margin.set(used),
    },
  )
  const unsigned = {
    name: 'geoswap_unsigned_swaps',
    help: 'Swaps whose stored terms differ from those that their wallets signed.',
  }
  addReading(
    registry,
    { unsigned },
    {
      read: () => countUnsigned(pool),
      show: (gauges, count) => gauges.unsigned.set(count),
    },
  )
  const quarantined = {
    name: 'geoswap_quarantined',
    help: 'Swaps, events and accounts that failed three times and were set aside: see `service quarantine`.',
  }
  addReading(
    registry,
    { quarantined },
    {
      read: () => countQuarantined(pool),
      show: (gauges, count) => gauges.quarantined.set(count),
    },
  )
}

function addEndedGauges(registry: Registry, pool: Pool): void {
  const ended = {
    name: 'geoswap_swaps_ended',
    help: 'Swaps that ended in the last hour.',
    labelNames: ['status', 'reason'],
  }
  addReading(
    registry,
    { ended },
    {
      read: () => readEndedSwaps(pool),
      show(gauges, swaps) {
        for (const { status, reason, count } of swaps) gauges.ended.set({ status, reason }, count)
      },
    },
  )
  const stages = {
    name: 'geoswap_stage_seconds',
    help: 'Time from acceptance to a stage, over the swaps that ended in the last hour.',
    labelNames: ['stage', 'quantile'],
  }
  addReading(
    registry,
    { stages },
    {
      read: () => readStageTimes(pool),
      show(gauges, times) {
        for (const { stage, quantile, seconds } of times)
          gauges.stages.set({ stage, quantile: String(quantile) }, seconds)
      },
    },
  )
}

function addExposureGauges(registry: Registry, { pool, chains, capsOf }: Sources): void {
  const specs = {
    lost: {
      name: 'geoswap_lost_inputs_usd',
      help: 'Value paid for inputs that a reorg removed for good, not yet written off.',
      labelNames: ['chain'],
    },
    unclaimed: {
      name: 'geoswap_unclaimed_usd',
      help: 'Value delivered whose input on a chain is not finally claimed.',
      labelNames: ['chain'],
    },
    unclaimedUsed: {
      name: 'geoswap_unclaimed_used_ratio',
      help: 'Used part of unclaimedCapUsd: at 1 nothing more is delivered from the chain.',
      labelNames: ['chain'],
    },
    exposure: {
      name: 'geoswap_exposure_usd',
      help: 'Value delivered against locks of a chain that are not final yet.',
      labelNames: ['chain'],
    },
  }
  addReading(registry, specs, {
    read: () => readExposure(pool),
    show(gauges, exposures) {
      for (const { chainId, cents, lostCents, unclaimedCents } of exposures) {
        const served = chains.find((each) => each.chainId === chainId)
        if (served === undefined) continue
        const chain = served.name
        gauges.exposure.set({ chain }, Number(cents) / 100)
        gauges.lost.set({ chain }, Number(lostCents) / 100)
        gauges.unclaimed.set({ chain }, Number(unclaimedCents) / 100)
        const cap = capsOf(chainId).unclaimedCents
        gauges.unclaimedUsed.set({ chain }, cap === 0n ? 1 : Number(unclaimedCents) / Number(cap))
      }
    },
  })
}

function addWasteGauge(registry: Registry, { pool, chains }: Sources): void {
  const wasted = {
    name: 'geoswap_wasted_gas_usd',
    help: 'Gas of locks and deliveries without effect, in this hour.',
    labelNames: ['chain'],
  }
  addReading(
    registry,
    { wasted },
    {
      read: () => readWastedByChain(pool),
      show(gauges, byChain) {
        for (const { chainId, name } of chains)
          gauges.wasted.set({ chain: name }, Number(byChain.get(chainId) ?? 0n) / 1_000_000)
      },
    },
  )
}

type Stocked = Pick<Sources, 'pool' | 'catalog' | 'dailyNeeds' | 'isBought'>

export function addInventoryGauge(
  registry: Registry,
  { pool, catalog, dailyNeeds, isBought }: Stocked,
): void {
  const specs = {
    used: {
      name: 'geoswap_inventory_used_ratio',
      help: 'Reserved part of the liquidity: at 1 nothing more can be quoted.',
      labelNames: ['chain', 'token'],
    },
    days: {
      name: 'geoswap_inventory_days_left',
      help: 'How many days the free liquidity lasts, at the average need of three days. Absent without a need.',
      labelNames: ['chain', 'token'],
    },
    amounts: {
      name: 'geoswap_inventory',
      help: 'Liquidity in the smallest unit: held by the vault, or reserved for accepted swaps.',
      labelNames: ['chain', 'token', 'kind'],
    },
  }
  addReading(registry, specs, {
    read: async () => ({ inventory: await readInventory(pool), dailyNeed: await dailyNeeds.read() }),
    show(gauges, { inventory, dailyNeed }) {
      for (const { chainId, token, held, reserved } of inventory) {
        const chain = catalog.chains.get(chainId)
        // Rows of tokens that are no longer served stay.
        if (!chain?.tokens.some(({ address }) => address === token)) continue
        const labels = { chain: chain.name, token }
        gauges.amounts.set({ ...labels, kind: 'held' }, Number(held))
        gauges.amounts.set({ ...labels, kind: 'reserved' }, Number(reserved))
        const stock = { held, reserved, isBought: isBought({ chainId, address: token }) }
        gauges.used.set(labels, Number(usedPermille(stock)) / 1_000)
        const lasts = lastsPermille(stock, dailyNeed(chainId, token))
        if (lasts !== undefined) gauges.days.set(labels, Number(lasts) / 1_000)
      }
    },
  })
}

/** Read from memory. */
function addClosedGauge(registry: Registry, { chains }: Catalog): void {
  new Gauge({
    name: 'geoswap_token_closed',
    help: '1 while a token is in no new swap: the chain tells something else of it than the configuration.',
    labelNames: ['chain', 'token'],
    registers: [registry],
    collect() {
      for (const chain of chains.values())
        for (const { address } of chain.tokens)
          this.set({ chain: chain.name, token: address }, chain.whyClosed?.(address) === undefined ? 0 : 1)
    },
  })
}

export function addPriceGauge(registry: Registry, prices: Sources['prices']): void {
  new Gauge({
    name: 'geoswap_price_available',
    help: '1 while an asset has a price: minSources are live and agree.',
    labelNames: ['asset'],
    registers: [registry],
    collect() {
      for (const asset of prices.assets)
        this.set({ asset }, prices.referenceOf(asset).price === undefined ? 0 : 1)
    },
  })
  new Gauge({
    name: 'geoswap_price_sources_live',
    help: 'Price sources of an asset that answer with a fresh price.',
    labelNames: ['asset'],
    registers: [registry],
    collect() {
      for (const asset of prices.assets) {
        const live = prices.feedsOf(asset).filter(({ price }) => price !== undefined)
        this.set({ asset }, live.length)
      }
    },
  })
}
