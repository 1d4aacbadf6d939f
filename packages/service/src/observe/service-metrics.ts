import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { formatUnits } from 'viem'
import type { GasWatch } from '../lanes/gas-watch.ts'
import type { ViewOfChain, Views } from '../lanes/views.ts'
import type { DailyNeeds } from '../market/daily-needs.ts'
import type { PriceBook } from '../market/prices/book.ts'
import type { Catalog, Token } from '../model/catalog.ts'
import { lastsPermille, usedPermille } from '../model/inventory-use.ts'
import type { ServedChain } from '../model/served-chain.ts'
import {
  readClaimMarginUsed,
  readEndedSwaps,
  readExposure,
  readOpenSwaps,
  readStageTimes,
} from '../store/figures.ts'
import { readInventory } from '../store/inventory.ts'
import { countUnsigned } from '../store/unsigned.ts'
import { addGasMetrics } from './gas-metrics.ts'
import { addLedgerGauges } from './ledger-metrics.ts'

type Sources = {
  pool: Pool
  chains: readonly ServedChain[]
  catalog: Catalog
  dailyNeeds: { read(): Promise<DailyNeeds> }
  /** Whether a pool sells the token, so that the vault need not hold any. */
  isBought(token: Pick<Token, 'chainId' | 'address'>): boolean
  prices: Pick<PriceBook, 'assets' | 'feedsOf' | 'referenceOf'>
  gas: Pick<GasWatch, 'keys' | 'floats'>
  views: Pick<Views, 'of'>
}

/** Gauges of money and work, read at each scrape. A source that is down keeps its last values. */
export function addServiceMetrics(registry: Registry, sources: Sources): void {
  addSwapGauges(registry, sources.pool)
  addClaimGauge(registry, sources.pool)
  addUnsignedGauge(registry, sources.pool)
  addEndedGauge(registry, sources.pool)
  addStageGauge(registry, sources.pool)
  addExposureGauge(registry, sources)
  addInventoryGauge(registry, sources)
  addRelayerGauge(registry, sources)
  addViewGauges(registry, sources)
  addFinalityGauge(registry, sources)
  addPriceGauge(registry, sources.prices)
  addGasMetrics(registry, sources.gas)
  addLedgerGauges(registry, sources.pool)
}

function addSwapGauges(registry: Registry, pool: Pool): void {
  const oldest = new Gauge({
    name: 'geoswap_oldest_swap_seconds',
    help: 'Age of the oldest current state among open swaps, in seconds.',
    labelNames: ['state'],
    registers: [registry],
  })
  new Gauge({
    name: 'geoswap_swaps',
    help: 'Open swaps by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const open = await readOpenSwaps(pool).catch(() => undefined)
      if (!open) return
      this.reset()
      oldest.reset()
      for (const { state, count, seconds } of open) {
        this.set({ state }, count)
        oldest.set({ state }, seconds)
      }
    },
  })
}

function addClaimGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_claim_margin_used_ratio',
    help: 'Used part of the time to claim an input: at 1 anyone can refund a delivered swap.',
    registers: [registry],
    async collect() {
      const used = await readClaimMarginUsed(pool).catch(() => undefined)
      if (used !== undefined) this.set(used)
    },
  })
}

function addUnsignedGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_unsigned_swaps',
    help: 'Swaps whose stored terms differ from those that their wallets signed.',
    registers: [registry],
    async collect() {
      const count = await countUnsigned(pool).catch(() => undefined)
      if (count !== undefined) this.set(count)
    },
  })
}

function addEndedGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_swaps_ended',
    help: 'Swaps that ended in the last hour, by outcome and reason.',
    labelNames: ['status', 'reason'],
    registers: [registry],
    async collect() {
      const ended = await readEndedSwaps(pool).catch(() => undefined)
      if (!ended) return
      this.reset()
      for (const { status, reason, count } of ended) this.set({ status, reason }, count)
    },
  })
}

function addStageGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_stage_seconds',
    help: 'Time from acceptance to a stage, over the swaps that ended in the last hour.',
    labelNames: ['stage', 'quantile'],
    registers: [registry],
    async collect() {
      const stages = await readStageTimes(pool).catch(() => undefined)
      if (!stages) return
      this.reset()
      for (const { stage, quantile, seconds } of stages)
        this.set({ stage, quantile: String(quantile) }, seconds)
    },
  })
}

function addExposureGauge(registry: Registry, { pool, chains }: Sources): void {
  const lost = new Gauge({
    name: 'geoswap_lost_inputs_usd',
    help: 'Value paid for inputs that a reorg removed for good, not yet written off.',
    labelNames: ['chain'],
    registers: [registry],
  })
  const unclaimed = new Gauge({
    name: 'geoswap_unclaimed_usd',
    help: 'Value delivered whose input on a chain is not finally claimed.',
    labelNames: ['chain'],
    registers: [registry],
  })
  const unclaimedUsed = new Gauge({
    name: 'geoswap_unclaimed_used_ratio',
    help: 'Used part of unclaimedCapUsd: at 1 nothing more is delivered from the chain.',
    labelNames: ['chain'],
    registers: [registry],
  })
  new Gauge({
    name: 'geoswap_exposure_usd',
    help: 'Value delivered against locks of a chain that are not final yet.',
    labelNames: ['chain'],
    registers: [registry],
    async collect() {
      for (const { chainId, cents, lostCents, unclaimedCents } of await readExposure(pool).catch(() => [])) {
        const served = chains.find((each) => each.chainId === chainId)
        if (served === undefined) continue
        const chain = served.name
        this.set({ chain }, Number(cents) / 100)
        lost.set({ chain }, Number(lostCents) / 100)
        unclaimed.set({ chain }, Number(unclaimedCents) / 100)
        const cap = served.caps.unclaimedCents
        unclaimedUsed.set({ chain }, cap === 0n ? 1 : Number(unclaimedCents) / Number(cap))
      }
    },
  })
}

type Stocked = Pick<Sources, 'pool' | 'catalog' | 'dailyNeeds' | 'isBought'>

export function addInventoryGauge(
  registry: Registry,
  { pool, catalog, dailyNeeds, isBought }: Stocked,
): void {
  const used = new Gauge({
    name: 'geoswap_inventory_used_ratio',
    help: 'Reserved part of the liquidity: at 1 nothing more can be quoted.',
    labelNames: ['chain', 'token'],
    registers: [registry],
  })
  const days = new Gauge({
    name: 'geoswap_inventory_days_left',
    help: 'How many days the free liquidity lasts, at the average need of the last three days. Absent without a need.',
    labelNames: ['chain', 'token'],
    registers: [registry],
  })
  new Gauge({
    name: 'geoswap_inventory',
    help: 'Liquidity in the smallest unit: held by the vault, and reserved for accepted swaps.',
    labelNames: ['chain', 'token', 'kind'],
    registers: [registry],
    async collect() {
      const inventory = await readInventory(pool).catch(() => undefined)
      if (!inventory) return
      const dailyNeed = await dailyNeeds.read().catch(() => undefined)
      if (dailyNeed) days.reset()
      for (const { chainId, token, held, reserved } of inventory) {
        // Rows of tokens that are no longer served stay.
        if (!catalog.chains.get(chainId)?.tokens.some(({ address }) => address === token)) continue
        const labels = { chain: String(chainId), token }
        this.set({ ...labels, kind: 'held' }, Number(held))
        this.set({ ...labels, kind: 'reserved' }, Number(reserved))
        const stock = { held, reserved, isBought: isBought({ chainId, address: token }) }
        used.set(labels, Number(usedPermille(stock)) / 1_000)
        const lasts = dailyNeed && lastsPermille(stock, dailyNeed(chainId, token))
        if (lasts !== undefined) days.set(labels, Number(lasts) / 1_000)
      }
    },
  })
}

function addRelayerGauge(registry: Registry, { chains, views }: Sources): void {
  new Gauge({
    name: 'geoswap_relayer_balance',
    help: 'Native balance of each sending key, in whole coins.',
    labelNames: ['chain', 'relayer'],
    registers: [registry],
    collect() {
      for (const { chainId, name, coin, senders } of chains) {
        const balances = views.of(chainId).part('state')?.value.balances ?? {}
        for (const relayer of [...senders.relay, ...senders.deliver]) {
          const balance = balances[relayer]
          if (balance === undefined) continue
          this.set({ chain: name, relayer }, Number(formatUnits(balance, coin.decimals)))
        }
      }
    },
  })
}

/** The chains as their followers see them. */
function addViewGauges(registry: Registry, { chains, views }: Sources): void {
  const gauge = (name: string, help: string, read: (view: ViewOfChain) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'],
      registers: [registry],
      collect() {
        for (const { chainId, name } of chains) {
          const value = read(views.of(chainId))
          if (value !== undefined) this.set({ chain: name }, value)
        }
      },
    })
  gauge('geoswap_view_age_seconds', 'Age of the balances, limits and feeds in the view of a chain.', (view) =>
    ageSeconds(view),
  )
  gauge(
    'geoswap_chain_finality_seconds',
    'How far the final block lags behind the head: 95th percentile of ten minutes, or the newest if that is more.',
    (view) => view.measured().finalitySeconds,
  )
  gauge('geoswap_chain_block_seconds', 'Time between blocks: 95th percentile of ten minutes.', (view) =>
    toSeconds(view.measured().blockMs),
  )
}

function addFinalityGauge(registry: Registry, { chains, views }: Sources): void {
  new Gauge({
    name: 'geoswap_chain_finality_used_ratio',
    help: 'Measured finality time divided by the configured one: above 3 nothing is quoted, locked or delivered.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      for (const { chainId, name, hardSeconds } of chains) {
        const measured = views.of(chainId).measured().finalitySeconds
        if (measured !== undefined) this.set({ chain: name }, measured / hardSeconds)
      }
    },
  })
}

function ageSeconds(view: ViewOfChain): number | undefined {
  return toSeconds(view.part('state')?.ageMs)
}

const toSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000)

export function addPriceGauge(registry: Registry, prices: Sources['prices']): void {
  new Gauge({
    name: 'geoswap_price_available',
    help: '1 while an asset has a price: enough of its sources are live, and they agree.',
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
