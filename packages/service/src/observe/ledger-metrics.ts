import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { formatUnits } from 'viem'
import type { GasWatch } from '../engine/gas-watch.ts'
import { readLedgerAges, readLedgerBalances } from '../store/ledger.ts'
import type { DatabaseProbe } from '../store/server.ts'
import { findActiveStops } from '../store/stops.ts'
import type { Books } from '../swap/books.ts'
import type { ServedChain } from '../swap/served-chain.ts'

type Spec = { name: string; help: string; labelNames?: readonly string[] }
type Gauges<K extends string> = Record<K, Gauge<string>>

/**
 * Adds gauges that one reading of the database shows. While it does not answer they are absent: a value from before
 * would look like a present one.
 */
export function addReading<K extends string, T>(
  registry: Registry,
  specs: Record<K, Spec>,
  { read, show }: { read(): Promise<T>; show(gauges: Gauges<K>, value: T): void },
): void {
  const gauges = {} as Gauges<K>
  const clear = () => {
    for (const key in specs) {
      gauges[key].reset()
      // A gauge without labels would be 0.
      if (!specs[key].labelNames) gauges[key].remove()
    }
  }
  let running: Promise<void> | undefined
  // All gauges of a scrape wait for the same reading.
  const refresh = () => {
    running ??= read()
      .then(
        (value) => {
          clear()
          show(gauges, value)
        },
        () => clear(),
      )
      .finally(() => {
        running = undefined
      })
    return running
  }
  for (const key in specs) {
    const { labelNames = [], ...spec } = specs[key]
    gauges[key] = new Gauge({ ...spec, labelNames: [...labelNames], registers: [registry], collect: refresh })
  }
}

/** Whether this process reaches the database, and its disk is full. */
export function addDatabaseGauges(registry: Registry, { isUp, hasRoom }: DatabaseProbe): void {
  new Gauge({
    name: 'geoswap_database_full',
    help: '1 while the database cannot write a file of a megabyte: its disk, or its limit of temporary files, is full.',
    registers: [registry],
    async collect() {
      this.set((await hasRoom()) ? 0 : 1)
    },
  })
  new Gauge({
    name: 'geoswap_database_up',
    help: '1 while the database answers this process. While it does not, figures from the database are absent.',
    registers: [registry],
    async collect() {
      this.set((await isUp()) ? 1 : 0)
    },
  })
}

type Sources = { pool: Pool; chains: readonly Pick<ServedChain, 'chainId' | 'name'>[] }

/** Balances of the ledger, and the stops. */
export function addLedgerGauges(registry: Registry, { pool, chains }: Sources): void {
  // A chain that is no longer served has no name.
  const nameOf = (id: number) => chains.find(({ chainId }) => chainId === id)?.name ?? String(id)
  const balances = {
    name: 'geoswap_ledger_balance',
    help: 'Accounts of the books, in the smallest unit, which add up to zero; unexplained above zero is a drift.',
    labelNames: ['chain', 'token', 'account'],
  }
  addReading(
    registry,
    { balances },
    {
      read: () => readLedgerBalances(pool),
      show(gauges, lines) {
        for (const { chainId, token, account, amount } of lines)
          gauges.balances.set({ chain: nameOf(chainId), token, account }, Number(amount))
      },
    },
  )
  const ages = {
    name: 'geoswap_ledger_age_seconds',
    help: 'Time since the books of a chain were compared with it.',
    labelNames: ['chain'],
  }
  addReading(
    registry,
    { ages },
    {
      read: () => readLedgerAges(pool),
      show(gauges, books) {
        for (const { chainId, seconds } of books) gauges.ages.set({ chain: nameOf(chainId) }, seconds)
      },
    },
  )
  const stops = {
    name: 'geoswap_quote_stops',
    help: 'Active stops of quotes, by operator or drift. An empty label means every chain or every asset.',
    labelNames: ['why', 'chain', 'asset'],
  }
  addReading(
    registry,
    { stops },
    {
      read: () => findActiveStops(pool),
      show(gauges, active) {
        for (const { why, scope } of active) {
          const { chainId, asset = '' } = scope.kind === 'part' ? scope : { asset: 'route' }
          gauges.stops.inc({ why, chain: chainId === undefined ? '' : nameOf(chainId), asset })
        }
      },
    },
  )
}

type BooksSources = {
  books: { read(): Promise<Books> }
  chains: readonly { chainId: number; name: string }[]
}

const E6 = 1_000_000

/** Earnings and costs of the swaps of today and yesterday, by the chains of their route. */
export function addBooksGauge(registry: Registry, { books, chains }: BooksSources): void {
  const nameOf = (id: number) => chains.find(({ chainId }) => chainId === id)?.name ?? String(id)
  const usd = {
    name: 'geoswap_last_day_usd',
    help: 'volume, earned, network and profit of swaps that ended today or yesterday (UTC), read every five minutes.',
    labelNames: ['from', 'to', 'kind'],
  }
  addReading(
    registry,
    { usd },
    {
      read: () => books.read(),
      show(gauges, { routes }) {
        for (const { originChain, destinationChain, volumeCents, ...route } of routes) {
          const [from, to] = [nameOf(originChain), nameOf(destinationChain)]
          gauges.usd.inc({ from, to, kind: 'volume' }, Number(volumeCents) / 100)
          gauges.usd.inc({ from, to, kind: 'earned' }, Number(route.earnedE6) / E6)
          gauges.usd.inc({ from, to, kind: 'network' }, Number(route.networkE6) / E6)
          gauges.usd.inc({ from, to, kind: 'profit' }, Number(route.profitE6) / E6)
        }
      },
    },
  )
}

/** Gas balances and how long they last. Those of a chain that is not read are absent. */
export function addGasMetrics(registry: Registry, gas: Pick<GasWatch, 'keys' | 'floats'>): void {
  new Gauge({
    name: 'geoswap_gas_low',
    help: '1 while a key that sends transactions holds less gas coin than its low mark.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, address, isLow } of gas.keys()) this.set({ chain, address }, isLow ? 1 : 0)
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_balance',
    help: 'Balance of the gas float, in whole coins.',
    labelNames: ['chain', 'address'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, address, balance, decimals } of gas.floats())
        this.set({ chain, address }, Number(formatUnits(balance, decimals)))
    },
  })
  new Gauge({
    name: 'geoswap_gas_float_topups_left',
    help: 'How many top-ups from low to target the gas float can still pay.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, topUpsLeft } of gas.floats()) this.set({ chain }, topUpsLeft)
    },
  })
}
