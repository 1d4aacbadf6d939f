import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../observe/logger.ts'
import type { Metrics } from '../observe/metrics.ts'

// Frequent reads without effect: they are in the metrics, and in the log at debug level.
const READS = new Set(['GET /swap/status/:swapId', 'GET /swap/status/:swapId/events', 'POST /swap/quote'])

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
    swapId: request.swapId,
  }
}
