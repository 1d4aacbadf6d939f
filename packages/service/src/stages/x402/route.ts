import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, type X402Request } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceGone } from '../../async/once-gone.ts'
import type { X402Answer, X402Call } from './x402.ts'

type Caller = FastifyRequest['caller']
export type X402Port = {
  /** `onHeld` receives the function to call when the caller hangs up. */
  x402(caller: Caller, call: X402Call, onHeld: (hangUp: () => void) => void): Promise<X402Answer>
}

// Longer than a payment waits for its swap.
const TIMEOUT_MS = 60_000
const MAX_HOST = 255

/** GET and POST /swap/x402, without an API key. */
export const x402Routes: FastifyPluginAsyncTypebox<{ port: X402Port }> = async (app, { port }) => {
  const { x402, x402Post } = endpoints
  const options = { config: { rateClass: x402.rateClass, isOpen: true }, handlerTimeout: TIMEOUT_MS }
  const answer = async (request: FastifyRequest, reply: FastifyReply, asked: X402Request) => {
    const [path] = request.url.split('?', 1)
    const url = `${request.protocol}://${request.host.slice(0, MAX_HOST)}${path}`
    const call = { request: asked, headers: request.headers, url, address: request.ip }
    const onHeld = (hangUp: () => void) => onceGone(request, reply, hangUp)
    const { status, headers, body } = await port.x402(request.caller, call, onHeld)
    return reply.code(status).headers(headers).send(body)
  }
  app.get('/swap/x402', { ...options, schema: { querystring: x402.query } }, (request, reply) =>
    answer(request, reply, request.query),
  )
  app.post('/swap/x402', { ...options, schema: { body: x402Post.body } }, (request, reply) =>
    answer(request, reply, request.body),
  )
}
