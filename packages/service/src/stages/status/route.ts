import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceGone } from '../../async/once-gone.ts'
import type { StatusStreams } from './streams.ts'
import type { StatusReads } from './wait.ts'

const MAX_WAIT_SECONDS = 15

/**
 * GET /swap/status/:swapId. Writes JSON text that was serialised once per swap past the framework, which would double
 * the cost of thousands of held reads that end together.
 */
export const statusRoutes: FastifyPluginAsyncTypebox<{ reads: StatusReads }> = async (app, { reads }) => {
  const { query, params, rateClass } = endpoints.status
  const options = { schema: { querystring: query, params }, config: { rateClass } }
  app.get('/swap/status/:swapId', options, async (request, reply) => {
    const wait = request.query.wait
    // Computed before the read is held, to leave less work when thousands end together.
    const headers = headersOf(reply)
    const json = await reads.read({
      accountId: ownerOf(request.caller),
      swapId: request.params.swapId,
      waitMs: (wait === undefined ? MAX_WAIT_SECONDS : Number(wait)) * 1_000,
      onHeld: (hangUp) => onceGone(request, reply, hangUp),
    })
    return sendText(reply, headers, json)
  })
}

type StreamOptions = {
  streams: StatusStreams
  /** Whether the API key is still active. */
  isActiveKey(keyId: string): boolean
}

/** GET /swap/status/:swapId/events. Written past the framework: the reply lasts as long as the swap is pending. */
export const streamRoutes: FastifyPluginAsyncTypebox<StreamOptions> = async (
  app,
  { streams, isActiveKey },
) => {
  const { query, params, headers, rateClass } = endpoints.events
  const options = { schema: { querystring: query, params, headers }, config: { rateClass } }
  app.get('/swap/status/:swapId/events', options, async (request, reply) => {
    const { accountId, keyId } = request.caller
    const start = await streams.open({
      accountId,
      swapId: request.params.swapId,
      after: Number(request.headers['last-event-id'] ?? request.query.lastEventId ?? 0),
      isAllowed: () => isActiveKey(keyId),
    })
    // Without this header, nginx would buffer the events.
    writeHead(reply, [...headersOf(reply), 'content-type', 'text/event-stream', 'x-accel-buffering', 'no'])
    onceGone(request, reply, start(reply.raw))
    return reply
  })
}

/** The account, or one wallet of it. */
const ownerOf = ({ accountId, rules: { wallet } }: FastifyRequest['caller']): string =>
  wallet === undefined ? accountId : `${accountId}:${wallet}`

function sendText(reply: FastifyReply, headers: string[], json: string): FastifyReply {
  const length = String(Buffer.byteLength(json))
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', length)
  writeHead(reply, headers)
  reply.raw.end(json)
  return reply
}

/** As the flat list that Node writes unchanged. */
function headersOf(reply: FastifyReply): string[] {
  return Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])
}

function writeHead(reply: FastifyReply, headers: string[]): void {
  reply.hijack()
  reply.raw.writeHead(200, headers)
}
