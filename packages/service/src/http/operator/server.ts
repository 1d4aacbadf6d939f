import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../errors.ts'
import type { Logger } from '../../observe/logger.ts'
import { createAddressLimit } from '../address-limit.ts'
import { createBareServer } from '../server.ts'
import { addWeb, type WebPage } from '../web/routes.ts'
import type { OperatorKeys } from './keys.ts'
import { type OperatorPort, operatorRoutes } from './routes.ts'

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
