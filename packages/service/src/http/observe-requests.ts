import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../observe/logger.ts'
import type { Metrics } from '../observe/metrics.ts'

/** One line and one observation per answered request. The fields are listed: nothing else gets into the log. */
export function observeRequests(
  app: FastifyInstance,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const ms = reply.elapsedTime
    const route = routeOf(request)
    metrics.observeRequest({ route, status: reply.statusCode, seconds: ms / 1_000 })
    if (logger.isLevelEnabled('info')) logger.info(lineOf(request, reply, { route, ms }), 'request')
    done()
  })
}

function routeOf(request: FastifyRequest): string {
  return request.is404 ? 'unknown' : `${request.method} ${request.routeOptions.url}`
}

function lineOf(request: FastifyRequest, reply: FastifyReply, { route, ms }: { route: string; ms: number }) {
  return {
    requestId: request.id,
    route,
    status: reply.statusCode,
    ms: Math.round(ms * 10) / 10,
    keyId: request.caller?.keyId,
  }
}
