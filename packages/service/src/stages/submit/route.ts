import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, type SubmitReply, type SubmitRequest, type SubmitSolanaRequest } from '@geoswap/wire'
import type { FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type SubmitPort = {
  submit(caller: Caller, body: SubmitRequest): Promise<SubmitReply> | SubmitReply
  submitSolana(caller: Caller, body: SubmitSolanaRequest): Promise<SubmitReply> | SubmitReply
}

const TIMEOUT_MS = 20_000

/** Adds the swap's id to the log and the trace of the call. */
function note(request: FastifyRequest, reply: SubmitReply): SubmitReply {
  request.swapId = reply.swapId
  return reply
}

/** POST /swap/submit and POST /swap/submit-solana. */
export const submitRoutes: FastifyPluginAsyncTypebox<{ port: SubmitPort }> = async (app, { port }) => {
  const { submit, submitSolana } = endpoints
  app.post(
    '/swap/submit',
    {
      schema: { body: submit.body, response: { 200: submit.reply } },
      config: { rateClass: submit.rateClass },
      handlerTimeout: TIMEOUT_MS,
    },
    async (request) => note(request, await port.submit(request.caller, request.body)),
  )
  app.post(
    '/swap/submit-solana',
    {
      schema: { body: submitSolana.body, response: { 200: submitSolana.reply } },
      config: { rateClass: submitSolana.rateClass },
      handlerTimeout: TIMEOUT_MS,
    },
    async (request) => note(request, await port.submitSolana(request.caller, request.body)),
  )
}
