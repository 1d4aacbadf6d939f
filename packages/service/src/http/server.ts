import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { Deployment, RateClass } from '@geoswap/wire'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import { invalidRequest } from '../errors.ts'
import type { Logger } from '../observe/logger.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Spans } from '../observe/otlp.ts'
import { type BuildPort, buildRoutes } from '../stages/build/route.ts'
import { type CatalogPort, catalogRoutes } from '../stages/catalog/route.ts'
import { type HistoryPort, historyRoutes } from '../stages/history/route.ts'
import { type QuotePort, quoteRoutes } from '../stages/quote/route.ts'
import { statusRoutes, streamRoutes } from '../stages/status/route.ts'
import type { StatusStreams } from '../stages/status/streams.ts'
import type { StatusReads } from '../stages/status/wait.ts'
import { type SubmitPort, submitRoutes } from '../stages/submit/route.ts'
import { type X402Port, x402Routes } from '../stages/x402/route.ts'
import type { ActiveKey } from '../store/api-keys.ts'
import { createAddressLimit } from './address-limit.ts'
import { createAdmission } from './admit.ts'
import { createCors } from './cors.ts'
import { addDiscovery } from './discovery.ts'
import { addDocs } from './docs.ts'
import { answerErrors, createClientErrorAnswer } from './errors.ts'
import { addHealth, type Readiness } from './health.ts'
import type { KeyTable } from './key-table.ts'
import { observeRequests, traceRequests } from './observe-requests.ts'
import type { RateLimiter } from './rate-limit.ts'
import { addWeb, type WebPage } from './web/routes.ts'

type KeyRules = ActiveKey['rules']

/** The caller. The account owns tokens and swaps; the key is for logs, and may have rules of its own. */
type Caller = {
  accountId: string
  keyId: string
  kind?: ActiveKey['kind']
  rules: KeyRules
  /** The account's own rates, where they are not the default. */
  limits?: ActiveKey['limits']
  /** As the operator's proxy says, if the configuration names its header. */
  region?: string | undefined
  /** The network of a caller without a key, which may have many wallets. */
  network?: string | undefined
}

/** The flow's interface for HTTP. Every function may throw a ServiceError. */
export type Handlers = CatalogPort & QuotePort & BuildPort & SubmitPort & HistoryPort & X402Port

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every call under /swap/ before its handler runs. */
    caller: Caller
    /** The swap that this call created or found. */
    swapId?: string
  }
  interface FastifyContextConfig {
    /** Marks a call under /swap/: it needs a key and counts against this limit. */
    rateClass?: RateClass
    /** Takes calls without a key, if the operator allows them. */
    isOpen?: boolean
  }
}

export type ServerDeps = {
  handlers: Handlers
  statusReads: StatusReads
  statusStreams: StatusStreams
  keys: KeyTable
  limiter: RateLimiter
  ready(): Promise<Readiness>
  logger: Logger
  metrics: Metrics
  /** Destination of traces, if any. */
  spans?: Spans | undefined
  /** Mounts the interface under this prefix, such as `/geoswap`. */
  basePath?: string
  /** Web origins whose scripts may call with any key. */
  corsOrigins?: readonly string[] | undefined
  /** The page at /app, if any. */
  web?: WebPage | undefined
  /** The account of calls without a key, if they are allowed. */
  x402?: Parameters<typeof createAdmission>[0]['x402']
  /** How calls are signed that need no key, if they are allowed. */
  keyless?: Parameters<typeof createAdmission>[0]['keyless']
  regionOf?: ((headers: IncomingHttpHeaders) => string | undefined) | undefined
  /** As machines find the service, if the operator published it. */
  discovery?: Deployment | undefined
  /** Addresses and ranges of load balancers whose x-forwarded-for is trusted. */
  trustedProxies?: readonly string[]
}

export const BODY_LIMIT = 64 * 1024
const CLOSE_MS = 9_000

/**
 * Creates the HTTP server with all routes, not yet listening. Closing it answers held reads, ends streams, and takes at
 * most 10 s.
 */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const { basePath = '', logger, metrics, keys, limiter } = deps
  const app = createBareServer(deps)
  let closing = false

  app.decorateRequest('caller')
  app.decorateRequest('swapId')
  observeRequests(app, { logger, metrics, basePath })
  if (deps.spans) traceRequests(app, deps.spans)
  app.addHook('onRequest', createCors({ origins: deps.corsOrigins ?? [], keyOrigins: keys.origins }))
  const addressLimit = createAddressLimit()
  const { regionOf, x402, keyless } = deps
  const shared = { keys, limiter, addressLimit, basePath }
  const { onRequest, preParsing } = createAdmission({ ...shared, x402, keyless, regionOf })
  app.addHook('onRequest', onRequest)
  if (preParsing) app.addHook('preParsing', preParsing)
  app.addHook('preClose', async () => {
    closing = true
    // Fastify closes idle connections; busy ones are cut off after this time.
    setTimeout(() => app.server.closeAllConnections(), CLOSE_MS).unref()
    deps.statusStreams.close()
    await deps.statusReads.close()
  })

  // Monitoring accesses a process directly, without the prefix.
  const health = { ready: deps.ready, registry: metrics.registry, isClosing: () => closing }
  addHealth(app, new Set(['', basePath]), health)
  addDiscovery(app, { basePath, deployment: deps.discovery, takesX402: deps.x402 !== undefined })
  await app.register(
    async (scope) => {
      await scope.register(catalogRoutes, { port: deps.handlers })
      await scope.register(quoteRoutes, { port: deps.handlers })
      await scope.register(buildRoutes, { port: deps.handlers })
      await scope.register(submitRoutes, { port: deps.handlers })
      await scope.register(statusRoutes, { reads: deps.statusReads })
      await scope.register(streamRoutes, { streams: deps.statusStreams, isActiveKey: keys.isActive })
      await scope.register(historyRoutes, { port: deps.handlers })
      await scope.register(x402Routes, { port: deps.handlers })
      await addDocs(scope, { basePath, hasWeb: deps.web !== undefined })
      if (deps.web) addWeb(scope, { basePath, page: deps.web })
    },
    { prefix: basePath },
  )
  return app
}

/** The backlog must hold thousands of callers that reconnect at once. */
export async function listen(app: FastifyInstance, address: { port: number; host: string }): Promise<string> {
  return app.listen({ ...address, backlog: 4_096 })
}

type BareServer = Pick<ServerDeps, 'logger' | 'trustedProxies'> & { metrics?: Pick<Metrics, 'countUnread'> }

/** A server without routes, with the documented errors, ids, limits and timeouts. */
export function createBareServer({ logger, metrics, trustedProxies = [] }: BareServer): FastifyInstance {
  const createRequestId = createRequestIds()
  const answerClientError = createClientErrorAnswer(createRequestId, (why) => metrics?.countUnread(why))
  const app = createFastify({ createRequestId, answerClientError, logger, trustedProxies })
  ignoreExpectations(app)
  app.server.on('connect', (_request, socket: Socket) => answerClientError(new Error('No proxy'), socket))
  app.removeContentTypeParser('text/plain')
  answerErrors(app)
  addSharedHeaders(app)
  return app
}

type FastifySettings = Required<Omit<BareServer, 'metrics'>> & {
  createRequestId(): string
  answerClientError: ReturnType<typeof createClientErrorAnswer>
}

function createFastify(settings: FastifySettings): FastifyInstance {
  const { createRequestId, answerClientError, logger, trustedProxies } = settings
  const loggerInstance: FastifyBaseLogger = logger
  return fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request would cost more than its log line.
    childLoggerFactory: (parent) => parent,
    genReqId: createRequestId,
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: BODY_LIMIT,
    // A whole request must arrive within 10 s; an answer may take more than the 15 s of a held read.
    requestTimeout: 10_000,
    connectionTimeout: 30_000,
    keepAliveTimeout: 30_000,
    // Node's own answer to a request without a host would have no body.
    http: { headersTimeout: 8_000, connectionsCheckingInterval: 2_000, requireHostHeader: false },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    // Longer than any URL that Node accepts: an overlong id is an unknown swap, not an unknown path.
    routerOptions: { maxParamLength: 16 * 1024 },
    rewriteUrl: (request) => repairUrl(request.url ?? '/'),
    clientErrorHandler: answerClientError,
    ajv: {
      customOptions: {
        allErrors: true,
        verbose: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allowUnionTypes: true,
      },
    },
  })
}

/** Node would answer an unknown expectation with an empty 417 instead of the standard error body. */
function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** Takes a path with invalid escapes literally, so that the same checks apply to it. */
function repairUrl(url: string): string {
  if (!url.includes('%')) return url
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '')
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
}

/** HTTP/1.1 requires one host, and a rejection otherwise: of two, a proxy and this server may read different ones. */
function findHostProblem({ raw, headers }: FastifyRequest): string | undefined {
  const isHost = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === 'host'
  if (raw.rawHeaders.filter(isHost).length > 1) return 'must be sent once'
  return headers.host === undefined && raw.httpVersion === '1.1' ? 'is required' : undefined
}

function createRequestIds(): () => string {
  const prefix = `req_${randomBytes(8).toString('hex')}`
  let count = 0
  return () => `${prefix}${(count++).toString(36).padStart(6, '0')}`
}

function addSharedHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
    const problem = findHostProblem(request)
    done(problem === undefined ? undefined : invalidRequest({ field: 'host', message: problem }))
  })
}
