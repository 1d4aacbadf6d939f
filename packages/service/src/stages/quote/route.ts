import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { endpoints, type NamedQuoteRequest, type QuoteReply } from '@geoswap/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Caller = FastifyRequest['caller']
export type QuotePort = {
  quote(caller: Caller, body: NamedQuoteRequest): QuoteReply | Promise<QuoteReply>
}

/** POST /swap/quote. */
export const quoteRoutes: FastifyPluginAsyncTypebox<{ port: QuotePort }> = async (app, { port }) => {
  const { body, reply, rateClass } = endpoints.quote
  const options = { schema: { body, response: { 200: reply } }, config: { rateClass } }
  const calls = createBatches<Call>((batch) => answerAll(port, batch))
  app.post('/swap/quote', options, ({ caller, body }, reply) => calls.add({ caller, body, reply }))
}

type Call = { caller: Caller; body: NamedQuoteRequest; reply: FastifyReply }
type Answer = QuoteReply | Promise<QuoteReply> | Error

/** Collects the items of one event loop turn and processes them at its end. */
function createBatches<T>(work: (batch: readonly T[]) => void): { add(item: T): void } {
  let gathered: T[] = []
  const flush = (): void => {
    const batch = gathered
    gathered = []
    work(batch)
  }
  return {
    add(item) {
      if (gathered.push(item) === 1) setImmediate(flush)
    },
  }
}

/**
 * Computes all prices first, then sends all replies: each step keeps its code in the processor's caches, which the
 * network stack would evict between calls answered one by one.
 */
function answerAll(port: QuotePort, calls: readonly Call[]): void {
  const answers = calls.map((call) => answerOf(port, call))
  for (const [index, { reply }] of calls.entries()) send(reply, answers[index])
}

function answerOf(port: QuotePort, { caller, body }: Call): Answer {
  try {
    return port.quote(caller, body)
  } catch (error) {
    return toError(error)
  }
}

function send(reply: FastifyReply, answer: Answer | undefined): void {
  if (answer instanceof Promise) answer.catch(toError).then((later) => reply.send(later))
  else reply.send(answer)
}

/** Wraps a thrown non-error, which would otherwise be sent as a quote. */
function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`Not an error: ${typeof thrown}`)
}
