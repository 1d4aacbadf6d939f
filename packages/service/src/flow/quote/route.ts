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
  app.post('/swap/quote', options, async (request) => port.quote(request.caller, request.body))
}
