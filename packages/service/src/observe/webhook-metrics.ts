import type { Pool } from 'pg'
import { Counter, Gauge, type Registry } from 'prom-client'
import { countEndpoints, countWaiting } from '../store/webhook-endpoints.ts'

export function addWebhookMetrics(registry: Registry, pool: Pool) {
  const attempts = new Counter({
    name: 'geoswap_webhook_attempts_total',
    help: 'Webhooks posted by this process, by whether the endpoint accepted them.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  new Gauge({
    name: 'geoswap_webhook_deliveries',
    help: 'Events due to endpoints: waiting for their next attempt, or given up.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await countWaiting(pool).catch(() => undefined)
      if (!counts) return
      this.set({ state: 'waiting' }, counts.waiting)
      this.set({ state: 'givenUp' }, counts.givenUp)
    },
  })
  new Gauge({
    name: 'geoswap_webhook_endpoints',
    help: 'Endpoints by whether they accept deliveries.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await countEndpoints(pool).catch(() => undefined)
      for (const [state, count] of Object.entries(counts ?? {})) this.set({ state }, count)
    },
  })
  return (outcome: 'delivered' | 'failed') => attempts.inc({ outcome })
}
