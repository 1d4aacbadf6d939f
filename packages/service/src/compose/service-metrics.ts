import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { formatUnits } from 'viem'
import type { PriceBook } from '../market/prices/book.ts'
import { readInventory } from '../store/inventory.ts'
import type { ConnectedChain } from './chains.ts'

type Sources = {
  pool: Pool
  chains: readonly ConnectedChain[]
  prices: Pick<PriceBook, 'assets' | 'feedsOf'>
}

/** Gauges of the money and the work, read when Prometheus asks. A source that is down leaves its last values. */
export function addServiceMetrics(registry: Registry, sources: Sources): void {
  addSwapGauge(registry, sources.pool)
  addStageGauge(registry, sources.pool)
  addInventoryGauge(registry, sources.pool)
  addRelayerGauge(registry, sources)
  addPriceGauge(registry, sources.prices)
}

function addSwapGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_swaps',
    help: 'Swaps by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const { rows } = await pool
        .query<{ state: string; count: string }>('select state, count(*) from swaps group by 1')
        .catch(() => ({ rows: [] }))
      for (const row of rows) this.set({ state: row.state }, Number(row.count))
    },
  })
}

function addStageGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_stage_seconds',
    help: 'Median time from acceptance to a stage, over the swaps of the last hour.',
    labelNames: ['stage'],
    registers: [registry],
    async collect() {
      const { rows } = await pool
        .query<{ stage: string; seconds: number }>(
          `select t ->> 'stage' as stage, percentile_cont(0.5) within group (
                    order by extract(epoch from (t ->> 'at')::timestamptz - s.created_at))::float8 as seconds
             from swaps s, jsonb_array_elements(s.timeline) as t
            where s.created_at > now() - interval '1 hour' group by 1`,
        )
        .catch(() => ({ rows: [] }))
      for (const row of rows) this.set({ stage: row.stage }, row.seconds)
    },
  })
}

function addInventoryGauge(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_inventory',
    help: 'Liquidity in the smallest unit: held by the vault, and reserved for accepted swaps.',
    labelNames: ['chain', 'token', 'kind'],
    registers: [registry],
    async collect() {
      for (const { chainId, token, held, reserved } of await readInventory(pool).catch(() => [])) {
        const labels = { chain: String(chainId), token }
        this.set({ ...labels, kind: 'held' }, Number(held))
        this.set({ ...labels, kind: 'reserved' }, Number(reserved))
      }
    },
  })
}

function addRelayerGauge(registry: Registry, { chains }: Sources): void {
  new Gauge({
    name: 'geoswap_relayer_balance',
    help: 'Gas coin of each key that sends transactions, in whole coins.',
    labelNames: ['chain', 'relayer'],
    registers: [registry],
    async collect() {
      const pairs = chains.flatMap((chain) =>
        Object.values(chain.senders).flatMap((keys) => keys.map((relayer) => ({ ...chain, relayer }))),
      )
      await Promise.allSettled(
        pairs.map(async ({ config, nativeToken, readGasBalance, relayer }) => {
          const coins = formatUnits(await readGasBalance(relayer), nativeToken.decimals)
          this.set({ chain: config.name, relayer }, Number(coins))
        }),
      )
    },
  })
}

function addPriceGauge(registry: Registry, prices: Sources['prices']): void {
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
