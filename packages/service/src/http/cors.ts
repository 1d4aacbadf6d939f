import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'

type Options = {
  /** Web origins that may call with any key. */
  origins: readonly string[]
  /** Web origins of publishable keys. */
  keyOrigins(): ReadonlySet<string>
}

// Headers that a script may read besides the standard ones.
const EXPOSED =
  'x-request-id, ratelimit, ratelimit-policy, retry-after, payment-required, payment-response, x-payment-response'
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'content-type, x-api-key, last-event-id, payment-signature, x-payment',
  'access-control-max-age': '600',
}

/**
 * Lets scripts of allowed web origins read replies, and answers their preflights, which have no key. Without any
 * allowed origin every preflight is refused. Credentials are never allowed: a browser adds no key by itself.
 */
export function createCors({ origins, keyOrigins }: Options): onRequestHookHandler {
  const configured = new Set(origins)
  return (request, reply, done) => {
    if (configured.size === 0 && keyOrigins().size === 0 && !isPreflight(request)) return done()
    reply.header('vary', 'origin')
    const { origin } = request.headers
    if (origin === undefined) return done()
    const isAllowed = configured.has(origin) || keyOrigins().has(origin)
    if (!isAllowed) return done(isPreflight(request) ? foreignOrigin(origin) : undefined)
    reply.header('access-control-allow-origin', origin)
    if (isPreflight(request)) return void reply.headers(PREFLIGHT).code(204).send()
    reply.header('access-control-expose-headers', EXPOSED)
    done()
  }
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** The name of an origin comes from the caller: truncated. */
export function foreignOrigin(origin: string): ServiceError {
  return new ServiceError('FORBIDDEN', {
    message: `The origin ${origin.slice(0, 100)} is not allowed. Ask the operator of this service to allow it.`,
  })
}
