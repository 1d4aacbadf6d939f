import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  type OperatorHours,
  OperatorOverview,
  OperatorPause,
  OperatorResume,
  OperatorResumeReply,
  OperatorSeries,
  OperatorSeriesQuery,
  OperatorStopReply,
} from '@geoswap/wire'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../errors.ts'
import type { Logger } from '../../observe/logger.ts'
import { createAddressLimit } from '../address-limit.ts'
import { createBareServer } from '../server.ts'
import { addWeb, type WebPage } from '../web/routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the operator's key. */
    operator: string
  }
}

type OperatorServerDeps = {
  port: OperatorPort
  keys: OperatorKeys
  logger: Logger
  /** The dashboard; without it, only the API is served. */
  web?: WebPage | undefined
}

/** Creates the operator's server, not yet listening. Nothing of it is on the callers' listener. */
export async function createOperatorServer(deps: OperatorServerDeps): Promise<FastifyInstance> {
  const { port, keys, logger, web } = deps
  const app = createBareServer({ logger })
  const addressLimit = createAddressLimit()
  app.decorateRequest('operator', '')
  app.addHook('onResponse', (request, reply, done) => {
    // Reads repeat every few seconds and are logged at debug level; changes are always logged.
    const { operator, method, id: requestId } = request
    const line = { requestId, method, route: request.routeOptions.url, status: reply.statusCode, operator }
    logger[method === 'POST' || reply.statusCode >= 400 ? 'info' : 'debug'](line, 'operator request')
    done()
  })

  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => {
      const id = findKey(keys, request)
      if (id === undefined) throw refuseKey(request, addressLimit.strike(request.ip))
      request.operator = id
    })
    await scope.register(operatorRoutes, { port })
  })
  if (web) addWeb(app, { basePath: '', page: web })
  return app
}

function findKey(keys: OperatorKeys, { headers }: FastifyRequest): string | undefined {
  const key = headers['x-operator-key']
  return typeof key === 'string' ? keys.find(key) : undefined
}

function refuseKey({ headers }: FastifyRequest, retryAfterMs: number | undefined): ServiceError {
  if (retryAfterMs !== undefined) return new ServiceError('RATE_LIMITED', { recovery: { retryAfterMs } })
  if (headers['x-operator-key'] === undefined) {
    const message = 'No operator key was sent. Send it in the x-operator-key header.'
    return new ServiceError('MISSING_API_KEY', { message })
  }
  const message = 'The operator key is unknown. Check the x-operator-key header.'
  return new ServiceError('INVALID_API_KEY', { message })
}

/** The operator API. `by` is the id of the caller's key. */
export type OperatorPort = {
  overview(): Promise<OperatorOverview>
  series(hours: OperatorHours): Promise<OperatorSeries>
  pause(pause: OperatorPause & { by: string }): Promise<{ id: string; isNew: boolean }>
  resume(resume: OperatorResume & { id: string; by: string }): Promise<{ id: string }>
}

const operatorRoutes: FastifyPluginAsyncTypebox<{ port: OperatorPort }> = async (app, { port }) => {
  app.get('/operate/overview', { schema: { response: { 200: OperatorOverview } } }, () => port.overview())
  const series = { querystring: OperatorSeriesQuery, response: { 200: OperatorSeries } }
  app.get('/operate/series', { schema: series }, ({ query }) => port.series(query.hours ?? '24'))
  const pause = { body: OperatorPause, response: { 200: OperatorStopReply } }
  app.post('/operate/stops', { schema: pause }, ({ body, operator }) => port.pause({ ...body, by: operator }))
  const resume = { body: OperatorResume, response: { 200: OperatorResumeReply } }
  app.post('/operate/stops/:id/resume', { schema: resume }, ({ params, body, operator }) =>
    port.resume({ ...body, id: (params as { id: string }).id, by: operator }),
  )
}

type OperatorKeys = {
  /** The id of the key, which is not secret; undefined if the key is unknown. */
  find(key: string): string | undefined
}

/** Compares all keys, each in constant time, so that the duration reveals nothing. */
export function createOperatorKeys(keys: readonly string[]): OperatorKeys {
  const known = keys.map((key) => ({ digest: digestOf(key), id: idOf(key) }))
  return {
    find(key) {
      const digest = digestOf(key)
      const matching = known.filter((each) => timingSafeEqual(each.digest, digest))
      return matching[0]?.id
    },
  }
}

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest()

/** Identifies one of several keys without revealing it. */
const idOf = (key: string): string =>
  `operator key ${createHash('sha256').update('id:').update(key).digest('hex').slice(0, 8)}`
