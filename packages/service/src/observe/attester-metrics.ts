import { Counter, Gauge, type Registry } from 'prom-client'

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
