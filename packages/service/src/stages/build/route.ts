import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  type BuildGeoOpReply,
  type BuildRequest,
  type BuildSolanaRequest,
  type BuildSolanaTxReply,
  type DelegationQuery,
  type DelegationQueryText,
  type DelegationReply,
  endpoints,
  toChainRef,
} from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type BuildPort = {
  delegation(caller: Caller, query: DelegationQuery): Promise<DelegationReply> | DelegationReply
  buildGeoOp(caller: Caller, body: BuildRequest): Promise<BuildGeoOpReply> | BuildGeoOpReply
  buildSolanaTx(caller: Caller, body: BuildSolanaRequest): Promise<BuildSolanaTxReply> | BuildSolanaTxReply
}

const TIMEOUT_MS = 20_000

// No address is a number of so few digits, and a CAIP-10 account has two colons.
const CHAIN = /^([1-9][0-9]{0,15}|[^:]+:[^:]+)$/

/** GET /swap/delegation with a query or a path, POST /swap/build-geo-op and POST /swap/build-solana-tx. */
export const buildRoutes: FastifyPluginAsyncTypebox<{ port: BuildPort }> = async (app, { port }) => {
  const { delegation, delegationByPath, buildGeoOp, buildSolanaTx } = endpoints
  app.get(
    '/swap/delegation',
    {
      schema: { querystring: delegation.query, response: { 200: delegation.reply } },
      config: { rateClass: delegation.rateClass },
      handlerTimeout: TIMEOUT_MS,
    },
    async ({ caller, query }) => port.delegation(caller, toQuery(query)),
  )
  app.get(
    '/swap/delegation/:chainId/:walletAddress',
    {
      schema: { params: delegationByPath.params, response: { 200: delegationByPath.reply } },
      config: { rateClass: delegationByPath.rateClass },
      handlerTimeout: TIMEOUT_MS,
      preValidation: async (request) => {
        request.params = inOrder(request.params)
      },
    },
    async ({ caller, params }) => port.delegation(caller, toQuery(params)),
  )
  app.post(
    '/swap/build-geo-op',
    {
      schema: { body: buildGeoOp.body, response: { 200: buildGeoOp.reply } },
      config: { rateClass: buildGeoOp.rateClass },
      handlerTimeout: TIMEOUT_MS,
    },
    async ({ caller, body }) => port.buildGeoOp(caller, body),
  )
  app.post(
    '/swap/build-solana-tx',
    {
      schema: { body: buildSolanaTx.body, response: { 200: buildSolanaTx.reply } },
      config: { rateClass: buildSolanaTx.rateClass },
      handlerTimeout: TIMEOUT_MS,
    },
    async ({ caller, body }) => port.buildSolanaTx(caller, body),
  )
}

function toQuery({ chainId, walletAddress }: DelegationQueryText): DelegationQuery {
  return { chainId: toChainRef(chainId), walletAddress }
}

/** Clients send the two segments in either order. */
function inOrder(params: DelegationQueryText): DelegationQueryText {
  const { chainId, walletAddress } = params
  return CHAIN.test(walletAddress) ? { chainId: walletAddress, walletAddress: chainId } : params
}
