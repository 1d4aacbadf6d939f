import { endpoints } from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import { foreignOrigin } from './cors.ts'
import type { KnownKey } from './key-table.ts'

// Every other call needs a secret key, new ones included.
const { chains, tokens, quote, delegation, delegationByPath } = endpoints
const { buildGeoOp, buildSolanaTx, submit, submitSolana, status, events } = endpoints
const ALLOWED = [
  chains,
  tokens,
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

/**
 * Refuses a publishable key from another origin than its own, and for calls beyond a swap of its own. A path that does
 * not exist is answered as such later.
 */
export function createPublishableCheck(
  basePath: string,
): (key: KnownKey, request: FastifyRequest) => ServiceError | undefined {
  const routes = new Set(
    ALLOWED.map(({ method, path }) => `${method} ${basePath}${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
  return ({ kind, origins }, request) => {
    if (kind !== 'publishable') return undefined
    const { origin } = request.headers
    if (origin === undefined) return noOrigin()
    if (!origins.includes(origin)) return foreignOrigin(origin)
    if (request.is404 || routes.has(`${request.method} ${request.routeOptions.url}`)) return undefined
    return new ServiceError('FORBIDDEN', {
      message:
        'A publishable key may quote, build, submit and read its own swaps. ' +
        'Make this call from a server, with a secret key.',
    })
  }
}

function noOrigin(): ServiceError {
  return new ServiceError('FORBIDDEN', {
    message: 'A publishable key works only in web pages, which send an Origin. Use a secret key elsewhere.',
  })
}
