import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StatusStreams } from './streams.ts'
import type { StatusReads } from './wait.ts'

const MAX_WAIT_SECONDS = 15

/**
 * GET /swap/status/:swapId. The reply is JSON text already, serialised once per swap, and is written as it
 * is: thousands of held reads may end together, and the way through the framework would double their cost.
 */
export const statusRoutes: FastifyPluginAsyncTypebox<{ reads: StatusReads }> = async (app, { reads }) => {
  const { query, params, rateClass } = endpoints.status
  const options = { schema: { querystring: query, params }, config: { rateClass } }
  app.get('/swap/status/:swapId', options, async (request, reply) => {
    const wait = request.query.wait
    // Before it is held: thousands that end together are then answered with less left to do.
    const headers = headersOf(reply)
    const json = await reads.read({
      accountId: request.caller.accountId,
      swapId: request.params.swapId,
      waitMs: (wait === undefined ? MAX_WAIT_SECONDS : Number(wait)) * 1_000,
      onHeld: (hangUp) => onceGone(request, reply, hangUp),
    })
    return sendText(reply, headers, json)
  })
}

type StreamOptions = {
  streams: StatusStreams
  /** Whether a key is still good. */
  isActiveKey(keyId: string): boolean
}

/** GET /swap/status/:swapId/events, written past the framework: it is answered as long as the swap is pending. */
export const streamRoutes: FastifyPluginAsyncTypebox<StreamOptions> = async (
  app,
  { streams, isActiveKey },
) => {
  const { query, params, headers, rateClass } = endpoints.events
  const options = { schema: { querystring: query, params, headers }, config: { rateClass } }
  app.get('/swap/status/:swapId/events', options, async (request, reply) => {
    const { accountId, keyId } = request.caller
    const start = await streams.open({
      ...{ accountId, swapId: request.params.swapId },
      after: Number(request.headers['last-event-id'] ?? request.query.lastEventId ?? 0),
      isAllowed: () => isActiveKey(keyId),
    })
    // Without it nginx would keep events back until they fill a buffer.
    writeHead(reply, [...headersOf(reply), 'content-type', 'text/event-stream', 'x-accel-buffering', 'no'])
    onceGone(request, reply, start(reply.raw))
    return reply
  })
}

/** Calls back when the caller hangs up, or did before this. It may be called when the answer has ended, too. */
function onceGone({ raw }: FastifyRequest, reply: FastifyReply, leave: () => void): void {
  const { socket } = raw
  if (reply.raw.destroyed || socket.destroyed) {
    leave()
    return
  }
  reply.raw.once('close', leave)
  // An answer that waits behind others on its connection has no socket yet, and would not hear it close.
  if (!reply.raw.socket) socket.setMaxListeners(0).once('close', leave)
}

function sendText(reply: FastifyReply, headers: string[], json: string): FastifyReply {
  const length = String(Buffer.byteLength(json))
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', length)
  writeHead(reply, headers)
  reply.raw.end(json)
  return reply
}

/** As a flat list, which Node writes as it is. */
function headersOf(reply: FastifyReply): string[] {
  return Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])
}

function writeHead(reply: FastifyReply, headers: string[]): void {
  reply.hijack()
  reply.raw.writeHead(200, headers)
}
