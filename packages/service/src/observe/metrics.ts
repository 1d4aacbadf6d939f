import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  /** Further metrics can be registered here; /metrics shows all of them. */
  registry: Registry
  observeRequest(request: { route: string; status: number; seconds: number }): void
  countFault(kind: string): void
  /** A request that never became a call: it came too slowly, or is no HTTP. */
  countUnread(why: string): void
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
    help: 'Failed steps that are repeated: lane, attest; node and behind: a node was silent, or lacked a block.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const unread = new Counter({
    name: 'geoswap_unread_requests_total',
    help: 'Requests to this process that did not arrive in time, or were no valid HTTP.',
    labelNames: ['why'],
    registers: [registry],
  })
  if (options.heldReads) addHeldReads(registry, options.heldReads)
  return {
    registry,
    observeRequest: createRequestObserver(duration),
    countFault: (kind) => faults.inc({ kind }),
    countUnread: (why) => unread.inc({ why }),
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

export type MetricsServer = { close(): Promise<void> }

type Listening = { metrics: { port: number; host: string } }
/** Whether the process can work, and the state of each thing it needs. */
type Ready = { ok: boolean; checks: Record<string, unknown> }

type Answer = { status: number; type: string; text: string }

/** Serves /metrics, /health and /ready of a process without an API; does nothing if the port is 0. */
export async function serveMetrics(
  registry: Registry,
  { metrics: { port, host } }: Listening,
  ready: () => Promise<Ready>,
): Promise<MetricsServer | undefined> {
  if (port === 0) return undefined
  const server = createServer(async (request, reply) => {
    const failed = { status: 500, type: 'text/plain', text: '' }
    const { status, type, text } = await answer(request.url, { registry, ready }).catch(() => failed)
    reply.writeHead(status, { 'content-type': type }).end(text)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

type Sources = { registry: Registry; ready(): Promise<Ready> }

async function answer(path: string | undefined, { registry, ready }: Sources): Promise<Answer> {
  if (path === '/metrics') return { status: 200, type: registry.contentType, text: await registry.metrics() }
  if (path === '/health') return json(200, { status: 'ok' })
  if (path !== '/ready') return { status: 404, type: 'text/plain', text: '' }
  const { ok, checks } = await ready()
  return json(ok ? 200 : 503, { status: ok ? 'ready' : 'not ready', checks })
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', text: `${JSON.stringify(body)}\n` }
}
