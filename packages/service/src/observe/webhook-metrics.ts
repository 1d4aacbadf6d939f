import type { Pool } from 'pg'
import { Counter, type Registry } from 'prom-client'
import { countEndpoints, countWaiting } from '../store/webhook-endpoints.ts'
import { addReading } from './database-gauges.ts'

export function addWebhookMetrics(registry: Registry, pool: Pool) {
  const attempts = new Counter({
    name: 'geoswap_webhook_attempts_total',
    help: 'Webhooks posted by this process, by whether the endpoint accepted them.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const deliveries = {
    name: 'geoswap_webhook_deliveries',
    help: 'Events due to endpoints: waiting for their next attempt, or given up.',
    labelNames: ['state'],
  }
  addReading(
    registry,
    { deliveries },
    {
      read: () => countWaiting(pool),
      show(gauges, counts) {
        if (!counts) return

        gauges.deliveries.set({ state: 'waiting' }, counts.waiting)
        gauges.deliveries.set({ state: 'givenUp' }, counts.givenUp)
      },
    },
  )
  const endpoints = {
    name: 'geoswap_webhook_endpoints',
    help: 'Endpoints by whether they accept deliveries.',
    labelNames: ['state'],
  }
  addReading(
    registry,
    { endpoints },
    {
      read: () => countEndpoints(pool),
      show(gauges, counts) {
        for (const [state, count] of Object.entries(counts ?? {})) gauges.endpoints.set({ state }, count)
      },
    },
  )
  return (outcome: 'delivered' | 'failed') => attempts.inc({ outcome })
}
