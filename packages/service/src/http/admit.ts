import type { IncomingHttpHeaders } from 'node:http'
import { type Endpoint, endpoints } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preParsingHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'
import { type AddressLimit, createAddressLimit, networkOf, rateOf } from './address-limit.ts'
import { foreignOrigin } from './cors.ts'
import { DISCOVERY_PATHS } from './discovery.ts'
import { guides } from './guides.gen.ts'
import { HEALTH_PATHS } from './health.ts'
import type { KeyTable, KnownKey } from './key-table.ts'
import { type Call, createKeyless, type KeylessOptions } from './keyless.ts'
import type { Admission, RateLimiter } from './rate-limit.ts'

type Options = {
  keys: KeyTable
  limiter: RateLimiter
  addressLimit: AddressLimit
  basePath: string
  /** Calls without a key are of this account; undefined refuses them. */
  x402?: { account: string; callsPerMinute: number } | undefined
  /** How calls are signed that need no key; undefined refuses them. */
  keyless?: KeylessOptions | undefined
  /** The region of a caller; undefined if none is known. */
  regionOf?: ((headers: IncomingHttpHeaders) => string | undefined) | undefined
}

type Admitting = { onRequest: onRequestHookHandler; preParsing?: preParsingHookHandler | undefined }

const JSON_TYPE = /^application\/json[ \t]*(;.*)?$/i

/**
 * Admits a call under /swap/: API key, then rate, then path and media type, all before the body is read. Synchronous if
 * key and budget are in memory, as usual. A call that a wallet signs is admitted before its body is parsed.
 */
export function createAdmission({
  keys,
  limiter,
  addressLimit,
  basePath,
  x402,
  keyless,
  regionOf,
}: Options): Admitting {
  const allowed = createAllowedMethods(basePath)
  const refusePublishable = createPublishableCheck(basePath)

  const refuseCaller = ({ request, reply }: Call, refusal: ServiceError): ServiceError => {
    const retryAfterMs = addressLimit.strike(request.ip)
    reply.header('ratelimit-policy', addressLimit.policy)
    reply.header('ratelimit', addressLimit.state(request.ip))
    if (retryAfterMs !== undefined) return new ServiceError('RATE_LIMITED', { recovery: { retryAfterMs } })
    return refusal
  }
  const judge = ({ request, reply }: Call, { bucket, retryAfterMs }: Admission): ServiceError | undefined => {
    reply.header('ratelimit-policy', bucket.policy)
    reply.header('ratelimit', limiter.state(bucket))
    if (retryAfterMs !== undefined) return new ServiceError('RATE_LIMITED', { recovery: { retryAfterMs } })
    if (request.is404) return refusePath(reply, allowed(request.url))
    if (request.method === 'POST' && !JSON_TYPE.test(request.headers['content-type'] ?? '')) {
      return new ServiceError('UNSUPPORTED_MEDIA_TYPE')
    }
    return undefined
  }
  const finish = (call: Call, admission: Admission): void => call.done(judge(call, admission))
  const spend = (call: Call, key: KnownKey | undefined): void => {
    const refusal = key ? refusePublishable(key, call.request) : noKey(call.request)
    if (!key || refusal) {
      call.done(refusal && refuseCaller(call, refusal))
      return
    }
    admit(call, key)
  }
  const admit = (call: Call, key: KnownKey): void => {
    const { accountId, keyId, kind, rules, limits } = key
    const region = regionOf?.(call.request.headers)
    const network = rules.wallet === undefined ? undefined : networkOf(call.request.ip)
    call.request.caller = { accountId, keyId, kind, rules, limits, region, network }
    continueWith(limiter.take(key, call.rateClass), call, finish)
  }

  const payers = createAddressLimit(performance, rateOf('payer', x402?.callsPerMinute ?? 1))
  /** A call without a key: as a stranger with the key of the account for such calls. */
  const admitPayer = (call: Call): void => {
    const { request, reply, done } = call
    const key = x402 && keys.ofAccount(x402.account)
    const retryAfterMs = key && payers.strike(request.ip)
    if (!key || retryAfterMs !== undefined) {
      reply.header('ratelimit-policy', payers.policy)
      reply.header('ratelimit', payers.state(request.ip))
      done(key ? new ServiceError('RATE_LIMITED', { recovery: { retryAfterMs } }) : paymentsOff())
      return
    }
    admit(call, { ...key, kind: 'publishable' })
  }

  const refuseRoute = createRouteCheck(basePath, KEYLESS)
  const deps = { keys, addressLimit, refuseRoute, refuseCaller, admit }
  const signed = keyless && createKeyless(keyless, deps)
  const onRequest: onRequestHookHandler = (request, reply, done) => {
    if (request.routeOptions.config.isOpen)
      return admitPayer({ request, reply, done, rateClass: isPaid(request) ? 'submit' : 'build' })
    const rateClass = request.routeOptions.config.rateClass ?? unknownPathClass(request, basePath)
    if (rateClass === undefined)
      return done(request.is404 ? refusePath(reply, allowed(request.url)) : undefined)
    const call = { request, reply, done, rateClass }
    if (signed?.takes(call)) return done()
    const header = request.headers['x-api-key']
    const key = typeof header === 'string' ? keys.authenticate(header) : undefined
    continueWith(key, call, spend)
  }
  return { onRequest, preParsing: signed?.preParsing }
}

const paymentsOff = () => new ServiceError('NOT_FOUND', { message: 'Swaps by HTTP 402 are off here.' })

const isPaid = ({ headers }: FastifyRequest): boolean =>
  headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined

function noKey({ headers }: FastifyRequest): ServiceError {
  return new ServiceError(headers['x-api-key'] ? 'INVALID_API_KEY' : 'MISSING_API_KEY')
}

/** Continues synchronously with a value and later with a promise, so that warm calls do not wait. */
function continueWith<T>(value: T | Promise<T>, call: Call, next: (call: Call, value: T) => void): void {
  if (value instanceof Promise) value.then((known) => next(call, known)).catch(call.done)
  else next(call, value)
}

/** Unknown paths under /swap/ also need a key and count against its limits. */
function unknownPathClass(request: FastifyRequest, basePath: string): 'other' | undefined {
  if (!request.is404) return undefined
  const path = request.url.slice(basePath.length)
  return request.url.startsWith(basePath) && /^\/swap(\/|\?|$)/.test(path) ? 'other' : undefined
}

function refusePath(reply: FastifyReply, methods: string | undefined): ServiceError {
  if (!methods) return new ServiceError('NOT_FOUND')
  reply.header('allow', methods)
  return new ServiceError('METHOD_NOT_ALLOWED')
}

/** These also answer at the root, without the prefix. */
const ROOT_PATHS = [...HEALTH_PATHS, ...DISCOVERY_PATHS]
const OPEN_PATHS = ['/', ...ROOT_PATHS, '/openapi.json', '/docs', '/docs/', ...Object.keys(guides)]

/** The methods of a path; undefined if the path does not exist. */
function createAllowedMethods(basePath: string): (url: string) => string | undefined {
  const known = Object.values(endpoints).map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
  }))
  const open = new Set(OPEN_PATHS)
  return (url) => {
    const [whole = ''] = url.split('?', 1)
    if (ROOT_PATHS.includes(whole)) return 'GET, HEAD'
    if (!whole.startsWith(basePath)) return undefined
    const path = whole.slice(basePath.length)
    if (open.has(path)) return 'GET, HEAD'
    const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    return methods.length > 0 ? methods.join(', ') : undefined
  }
}

// Every other call needs a secret key, new ones included.
const { chains, tokens, capabilities, quote, delegation, delegationByPath } = endpoints
const { buildGeoOp, buildSolanaTx, submit, submitSolana, status, events } = endpoints
const ALLOWED = [
  chains,
  tokens,
  capabilities,
  quote,
  delegation,
  delegationByPath,
  buildGeoOp,
  buildSolanaTx,
  submit,
  submitSolana,
  status,
  events,
]
const PUBLISHABLE = {
  allowed: ALLOWED,
  refusal:
    'A publishable key may quote, build, submit and read its own swaps. ' +
    'Make this call from a server, with a secret key.',
}
// A stream would outlive its signature.
const KEYLESS = {
  allowed: [...ALLOWED.filter((each) => each !== events), endpoints.history],
  refusal: 'Without an API key, a wallet may quote, build, submit and read the status of its own swaps.',
}

type Allowed = { allowed: readonly Pick<Endpoint, 'method' | 'path'>[]; refusal: string }

/** Refuses other calls than these. A path that does not exist is answered as such later. */
function createRouteCheck(basePath: string, { allowed, refusal: message }: Allowed) {
  const routes = new Set(
    allowed.map(({ method, path }) => `${method} ${basePath}${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
  return ({ is404, method, routeOptions }: FastifyRequest): ServiceError | undefined =>
    is404 || routes.has(`${method} ${routeOptions.url}`)
      ? undefined
      : new ServiceError('FORBIDDEN', { message })
}

/** Refuses a publishable key from another origin than its own, and for calls beyond a swap of its own. */
function createPublishableCheck(
  basePath: string,
): (key: KnownKey, request: FastifyRequest) => ServiceError | undefined {
  const refuseRoute = createRouteCheck(basePath, PUBLISHABLE)
  return ({ kind, origins }, request) => {
    if (kind !== 'publishable') return undefined
    const { origin } = request.headers
    if (origin === undefined) return noOrigin()
    if (!origins.includes(origin)) return foreignOrigin(origin)
    return refuseRoute(request)
  }
}

function noOrigin(): ServiceError {
  return new ServiceError('FORBIDDEN', {
    message: 'A publishable key works only in web pages, which send an Origin. Use a secret key elsewhere.',
  })
}
