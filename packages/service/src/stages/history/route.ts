import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, type HistoryQuery, type HistoryReply } from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type HistoryPort = { history(caller: Caller, query: HistoryQuery): Promise<HistoryReply> }

/** GET /swap/history. */
export const historyRoutes: FastifyPluginAsyncTypebox<{ port: HistoryPort }> = async (app, { port }) => {
  const { query, reply, rateClass } = endpoints.history
  const options = { schema: { querystring: query, response: { 200: reply } }, config: { rateClass } }
  app.get('/swap/history', options, async ({ caller, query: { limit, ...filters } }) =>
    port.history(caller, { ...filters, limit: limit === undefined ? undefined : Number(limit) }),
  )
}
