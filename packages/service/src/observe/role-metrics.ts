import type { Pool } from 'pg'
import { Counter, Gauge, type Registry } from 'prom-client'
import { countEndpoints, countWaiting } from '../store/webhook-endpoints.ts'
import { addReading } from './ledger-metrics.ts'

type AttesterCounters = {
  countAttested(kind: string, swaps: number): void
  countRefused(): void
  /** Call it after a complete sweep of waiting swaps. */
  noteSweep(): void
  /** Seconds since the last complete sweep. */
  idleSeconds(): number
}

export function addAttesterMetrics(registry: Registry): AttesterCounters {
  const attested = new Counter({
    name: 'geoswap_attested_total',
    help: 'Swaps whose claim or refund was signed by this attester.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const refused = new Counter({
    name: 'geoswap_attestations_refused_total',
    help: 'Requests that this attester refused because its own nodes contradict them.',
    registers: [registry],
  })
  let sweptAt = performance.now()
  const idleSeconds = () => (performance.now() - sweptAt) / 1_000
  new Gauge({
    name: 'geoswap_attester_idle_seconds',
    help: 'Seconds since this attester last completed its work.',
    registers: [registry],
    collect() {
      this.set(idleSeconds())
    },
  })
  return {
    countAttested: (kind, swaps) => attested.inc({ kind }, swaps),
    countRefused: () => refused.inc(),
    idleSeconds,
    noteSweep() {
      sweptAt = performance.now()
    },
  }
}

/** `place`: its number in the configuration, from 1. Its host is internal. */
type Server = { place: number; problem(): string | undefined }
type SignerCounters = { countFault(place: number, fault: string): void }

/** Figures of the remote signers that this process uses, as `/ready` names them. */
export function addSignerMetrics(registry: Registry, servers: readonly Server[]): SignerCounters {
  new Gauge({
    name: 'geoswap_signer_up',
    help: '1 while a remote signer answers this process and holds its keys.',
    labelNames: ['signer'],
    registers: [registry],
    collect() {
      for (const { place, problem } of servers)
        this.set({ signer: String(place) }, problem() === undefined ? 1 : 0)
    },
  })
  const faults = new Counter({
    name: 'geoswap_signer_faults_total',
    help: 'Answers of a remote signer to this process that gave no usable signature.',
    labelNames: ['signer', 'fault'],
    registers: [registry],
  })
  return { countFault: (place, fault) => faults.inc({ signer: String(place), fault }) }
}

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
