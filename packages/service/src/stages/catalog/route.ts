import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  type CapabilitiesReply,
  type ChainsReply,
  endpoints,
  type TokensQuery,
  type TokensReply,
  toChainRef,
} from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type CatalogPort = {
  chains(caller: Caller): ChainsReply
  capabilities(caller: Caller): Promise<CapabilitiesReply>
  tokens(caller: Caller, query: TokensQuery): TokensReply
}

/** GET /swap/chains, GET /swap/tokens and GET /swap/capabilities. */
export const catalogRoutes: FastifyPluginAsyncTypebox<{ port: CatalogPort }> = async (app, { port }) => {
  const { chains, tokens, capabilities } = endpoints
  app.get(
    '/swap/capabilities',
    {
      schema: { querystring: capabilities.query, response: { 200: capabilities.reply } },
      config: { rateClass: capabilities.rateClass },
    },
    async ({ caller }) => port.capabilities(caller),
  )
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
