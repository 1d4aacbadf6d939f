import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints } from '@geoswap/wire'
import type { FastifyReply } from 'fastify'
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
    const json = await reads.read({
      accountId: request.caller.accountId,
      swapId: request.params.swapId,
      waitMs: (wait === undefined ? MAX_WAIT_SECONDS : Number(wait)) * 1_000,
      onHeld: (hangUp) => reply.raw.once('close', hangUp),
    })
    return sendText(reply, json)
  })
}

function sendText(reply: FastifyReply, json: string): FastifyReply {
  reply.hijack()
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])
  headers.push('content-type', 'application/json; charset=utf-8')
  headers.push('content-length', String(Buffer.byteLength(json)))
  // As a flat list, which Node writes as it is.
  reply.raw.writeHead(200, headers)
  reply.raw.end(json)
  return reply
}
