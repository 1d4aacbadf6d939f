import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, type QuoteReply, type QuoteRequest } from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type QuotePort = {
  quote(caller: Caller, body: QuoteRequest): QuoteReply | Promise<QuoteReply>
}

/** POST /swap/quote. */
export const quoteRoutes: FastifyPluginAsyncTypebox<{ port: QuotePort }> = async (app, { port }) => {
  const { body, reply, rateClass } = endpoints.quote
  const options = { schema: { body, response: { 200: reply } }, config: { rateClass } }
  app.post('/swap/quote', options, (request, reply) => {
    const answer = port.quote(request.caller, request.body)
    if (answer instanceof Promise) return answer
    // A quote from memory is there already: sending it now saves a turn of the event loop per call.
    reply.send(answer)
  })
}
