import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readLedgerAges, readLedgerBalances } from '../store/ledger.ts'
import { findActiveStops } from '../store/stops.ts'

/** Balances of the ledger, and the stops. Keeps the last values while the database is down. */
export function addLedgerGauges(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_ledger_balance',
    help: 'Balance of each account of the ledger, in the smallest unit. The balances of a token add up to zero.',
    labelNames: ['chain', 'token', 'account'],
    registers: [registry],
    async collect() {
      for (const { chainId, token, account, amount } of await readLedgerBalances(pool).catch(() => [])) {
        this.set({ chain: String(chainId), token, account }, Number(amount))
      }
    },
  })
  new Gauge({
    name: 'geoswap_ledger_age_seconds',
    help: 'Seconds since the ledger of a chain was last compared with it.',
    labelNames: ['chain'],
    registers: [registry],
    async collect() {
      for (const { chainId, seconds } of await readLedgerAges(pool).catch(() => [])) {
        this.set({ chain: String(chainId) }, seconds)
      }
    },
  })
  new Gauge({
    name: 'geoswap_quote_stops',
    help: 'Active stops of quotes, by reason and scope. An empty label means every chain or every asset.',
    labelNames: ['why', 'chain', 'asset'],
    registers: [registry],
    async collect() {
      const stops = await findActiveStops(pool).catch(() => undefined)
      if (!stops) return
      this.reset()
      for (const { why, scope } of stops) {
        const { chainId = '', asset = '' } = scope.kind === 'part' ? scope : { asset: 'route' }
        this.inc({ why, chain: String(chainId), asset })
      }
    },
  })
}
