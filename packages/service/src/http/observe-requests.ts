import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../observe/logger.ts'
import type { Metrics } from '../observe/metrics.ts'
import { parseTraceParent, randomTrace, type Spans, traceOf } from '../observe/otlp.ts'
import { HEALTH_PATHS } from './health.ts'

// Frequent reads without effect: they are in the metrics, and in the log at debug level.
const READS = new Set([
  ...['GET /swap/status/:swapId', 'GET /swap/status/:swapId/events', 'POST /swap/quote'],
  ...HEALTH_PATHS.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
])

const UNAVAILABLE = 503

/** One log line and one observation per answered request. The fields are listed: nothing else is logged. */
export function observeRequests(
  app: FastifyInstance,
  { logger, metrics, basePath }: { logger: Logger; metrics: Metrics; basePath: string },
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const ms = reply.elapsedTime
    const route = routeOf(request, basePath)
    metrics.observeRequest({ route, status: reply.statusCode, seconds: ms / 1_000 })
    const level = levelOf(request, reply.statusCode, route)
    if (logger.isLevelEnabled(level)) logger[level](lineOf(request, reply, { route, ms }), 'request')
    done()
  })
}

/** An outage answers every call alike: a warning is folded. */
function levelOf(request: FastifyRequest, status: number, route: string): 'debug' | 'info' | 'warn' {
  if (status === UNAVAILABLE) return 'warn'
  return isDebugOnly(request, status, route) ? 'debug' : 'info'
}

/** Rejected calls without a key are logged at debug level, so that they cannot fill the log. */
function isDebugOnly({ caller, method }: FastifyRequest, status: number, route: string): boolean {
  if (method === 'OPTIONS') return true
  return status === 200 ? READS.has(route) : caller === undefined && status >= 400 && status < 500
}

/** The route by its name in the interface, without the mount prefix: alerts and dashboards use that name. */
function routeOf({ is404, method, routeOptions: { url = '' } }: FastifyRequest, basePath: string): string {
  if (is404) return 'unknown'
  return `${method} ${url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : url}`
}

function lineOf(request: FastifyRequest, reply: FastifyReply, { route, ms }: { route: string; ms: number }) {
  return {
    requestId: request.id,
    route,
    status: reply.statusCode,
    ms: Math.round(ms * 10) / 10,
    keyId: request.caller?.keyId,
    wallet: request.caller?.rules.wallet,
    swapId: request.swapId,
  }
}

/**
 * One span per answered call with a key. Calls that created a swap are in the trace of the swap; others in that of
 * their caller.
 */
export function traceRequests(app: FastifyInstance, spans: Spans): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url } = request.routeOptions
    if (request.caller && url?.includes('/swap/')) {
      const endMs = Date.now()
      spans.add({
        ...traceContextOf(request),
        name: `${request.method} ${url}`,
        kind: 'server',
        startMs: endMs - reply.elapsedTime,
        endMs,
        attributes: {
          'http.request.method': request.method,
          'http.route': url,
          'http.response.status_code': reply.statusCode,
          'geoswap.request_id': request.id,
          'geoswap.key_id': request.caller?.keyId,
          'geoswap.swap_id': request.swapId,
        },
        failed: reply.statusCode >= 500,
      })
    }
    done()
  })
}

function traceContextOf({ headers, swapId }: FastifyRequest) {
  const own = randomTrace()
  const parent = parseTraceParent(headers['traceparent'])
  if (swapId !== undefined) {
    const { traceId, spanId: parentId } = traceOf(swapId)
    return { traceId, parentId, spanId: own.spanId, link: parent }
  }
  return parent ? { traceId: parent.traceId, parentId: parent.spanId, spanId: own.spanId } : own
}
