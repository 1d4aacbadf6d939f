import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import type { ServedChain } from '../model/served-chain.ts'
import { readLedgerAges, readLedgerBalances } from '../store/ledger.ts'
import { findActiveStops } from '../store/stops.ts'
import { addReading } from './database-gauges.ts'

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
