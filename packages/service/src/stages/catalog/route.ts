import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type ChainsReply, endpoints, type TokensQuery, type TokensReply, toChainRef } from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type CatalogPort = {
  chains(caller: Caller): ChainsReply
  tokens(caller: Caller, query: TokensQuery): TokensReply
}

/** GET /swap/chains and GET /swap/tokens. */
export const catalogRoutes: FastifyPluginAsyncTypebox<{ port: CatalogPort }> = async (app, { port }) => {
  const { chains, tokens } = endpoints
  app.get(
    '/swap/chains',
    {
      schema: { querystring: chains.query, response: { 200: chains.reply } },
      config: { rateClass: chains.rateClass },
    },
    async ({ caller }) => port.chains(caller),
  )
  app.get(
    '/swap/tokens',
    {
      schema: { querystring: tokens.query, response: { 200: tokens.reply } },
      config: { rateClass: tokens.rateClass },
    },
    async ({ caller, query: { chainId } }) =>
      port.tokens(caller, chainId === undefined ? {} : { chainId: toChainRef(chainId) }),
  )
}
