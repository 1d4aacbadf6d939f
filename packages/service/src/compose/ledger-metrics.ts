import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readLedgerAges, readLedgerBalances } from '../store/ledger.ts'
import { findActiveStops } from '../store/stops.ts'

/** What the books say, and what they stopped. A database that is down leaves the last values. */
export function addLedgerGauges(registry: Registry, pool: Pool): void {
  new Gauge({
    name: 'geoswap_ledger_balance',
    help: 'What each account of the books holds, in the smallest unit. Of a token they add up to zero.',
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
    help: 'Since the books of a chain were last compared with it.',
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
    help: 'Active stops of quotes, by why they were raised and what they are about. Empty: every chain, every asset.',
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
