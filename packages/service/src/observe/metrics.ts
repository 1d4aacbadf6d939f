import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  /** Further metrics can be registered here; /metrics shows all of them. */
  registry: Registry
  observeRequest(request: { route: string; status: number; seconds: number }): void
  countFault(kind: string): void
}

const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 16]

/** Labels are route patterns, statuses and kinds: never an id, a wallet or a key. */
export function createMetrics(options: { heldReads?: () => number; defaults?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (options.defaults ?? true) collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'geoswap_http_request_duration_seconds',
    help: 'Time in which this process answers a call, held reads included.',
    labelNames: ['route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
  const faults = new Counter({
    name: 'geoswap_faults_total',
    help: 'Failed steps of this process that are repeated: lane of a worker, attest of an attester.',
    labelNames: ['kind'],
    registers: [registry],
  })
  if (options.heldReads) addHeldReads(registry, options.heldReads)
  return {
    registry,
    observeRequest: createRequestObserver(duration),
    countFault: (kind) => faults.inc({ kind }),
  }
}

type Child = { observe(seconds: number): void }

/** Keeps the child of each label pair: looking it up by labels costs more than the observation. */
function createRequestObserver(duration: Histogram<'route' | 'status'>): Metrics['observeRequest'] {
  const children = new Map<string, Map<number, Child>>()
  const addChild = (route: string, status: number): Child => {
    const child = duration.labels({ route, status: String(status) })
    children.set(route, (children.get(route) ?? new Map()).set(status, child))
    return child
  }
  return ({ route, status, seconds }) => {
    const child = children.get(route)?.get(status) ?? addChild(route, status)
    child.observe(seconds)
  }
}

function addHeldReads(registry: Registry, heldReads: () => number): void {
  new Gauge({
    name: 'geoswap_held_status_reads',
    help: 'Status reads and streams that this process holds now.',
    registers: [registry],
    collect() {
      this.set(heldReads())
    },
  })
}
