import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Spans } from '../observe/otlp.ts'
import { parseTraceParent, randomTrace, traceOf } from '../observe/swap-trace.ts'

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
    return { traceId, parentId, spanId: own.spanId, ...(parent && { link: parent }) }
  }
  return parent ? { traceId: parent.traceId, parentId: parent.spanId, spanId: own.spanId } : own
}
