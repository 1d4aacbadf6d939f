import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type ErrorCode,
  type ErrorReply,
  errorCatalogue,
  type QuoteRequest,
  type StatusReply,
} from '@geoswap/wire'
import { account, buildOf, evmQuote, opFor } from './evm-offer.ts'

export type Answer = { status: number; body: unknown; headers?: Record<string, string> }

/** Replaces the answer to one request. `act` is the answer of an honest service. */
export type Fault = (act: () => Answer) => Answer | Stream | 'drop' | 'hang'
/** Server-sent events in pieces; then the connection breaks, the stream ends, or it hangs. */
export type Stream = { texts: readonly string[]; then: 'break' | 'end' | 'hang' }

export function refusal(code: ErrorCode, headers: Record<string, string> = {}): Answer {
  const { status, message, retryable, action } = errorCatalogue[code]
  const body: ErrorReply = { code, message, retryable, requestId: `req_${code}`, recovery: { action } }
  return { status, body, headers }
}

export const refuse =
  (code: ErrorCode, headers?: Record<string, string>): Fault =>
  () =>
    refusal(code, headers)
/** The request is processed and its reply is lost. */
export const dropReply: Fault = (act) => {
  act()
  return 'drop'
}
/** The request is lost before it is processed. */
export const dropRequest: Fault = () => 'drop'
export const hang: Fault = () => 'hang'
/** An honest reply that is altered on its way. */
export const change =
  (to: (body: never) => object): Fault =>
  (act) => {
    const answer = act()
    return { ...answer, body: to(structuredClone(answer.body) as never) }
  }

const ended: StatusReply = {
  ...{ swapId: '', status: 'settled', substatus: 'delivered', originChain: 31_337, destinationChain: 31_338 },
  ...{ createdAt: '2026-01-02T03:04:12.000Z', updatedAt: '2026-01-02T03:04:20.000Z', timeline: [] },
  caip: { originChain: 'eip155:31337', destinationChain: 'eip155:31338' },
  amounts: { input: '10000000', quotedOutput: '9965000', minOutput: '9915175' },
}

/** The rules of the service in memory: quotes, ops and swaps, with one swap per quote. */
function createRules() {
  const quotes = new Map<string, QuoteRequest>()
  const swaps = new Map<string, string>()
  const state = { nonce: 0, delegated: false, swap: ended }

  const acts: Record<string, (body: never, url: URL) => object> = {
    '/swap/quote': (body: QuoteRequest) => {
      const geoQuoteToken = `quote-${quotes.size + 1}`
      quotes.set(geoQuoteToken, body)
      return { ...evmQuote, geoQuoteToken }
    },
    '/swap/delegation': (_body, url) => ({
      ...{ chainId: Number(url.searchParams.get('chainId')), delegated: state.delegated },
      ...{ walletAddress: url.searchParams.get('walletAddress'), originReady: state.delegated },
      ...(!state.delegated && { delegationTarget: account, accountNonce: state.nonce }),
    }),
    '/swap/build-geo-op': ({ geoQuoteToken }: { geoQuoteToken: string }) => {
      const request = quotes.get(geoQuoteToken)
      if (!request) throw new Error('No such quote')
      return { ...buildOf(opFor(request, evmQuote)), geoOpToken: `op-of-${geoQuoteToken}` }
    },
    '/swap/submit': ({ geoOpToken }: { geoOpToken: string }) => {
      const swapId = swaps.get(geoOpToken) ?? `swp_${swaps.size + 1}`
      swaps.set(geoOpToken, swapId)
      return { swapId, status: 'pending' }
    },
    '/swap/status': (_body, url) => ({ ...state.swap, swapId: url.pathname.split('/').at(-1) }),
    '/swap/chains': () => ({ chains: [] }),
    '/swap/history': (_body, url) => ({ swaps: [], nextCursor: url.search }),
  }
  return { acts, swaps, state }
}

async function stream(response: ServerResponse, { texts, then }: Stream): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // Sequential, so that each text arrives by itself.
  for (const text of texts) {
    await new Promise<void>((resolve) => response.write(text, () => resolve()))
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (then === 'end') response.end()
  if (then === 'break') response.destroy()
}

type Request = {
  path: string
  body: Record<string, unknown>
  headers: IncomingMessage['headers']
  url: URL
  at: number
}

/** A real HTTP server in front of the rules, with injectable faults. */
export async function startService() {
  const { acts, swaps, state } = createRules()
  const faults = new Map<string, Fault[]>()
  const requests: Request[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://service')
    const path = url.pathname.replace(/(\/swap\/[\w-]+)(\/[^/]+)?/, '$1')
    const body = JSON.parse((await text(request)) || '{}')
    requests.push({ path, body, headers: request.headers, url, at: Date.now() })
    const act = () => ({ status: 200, body: acts[path]?.(body as never, url) ?? {} })
    const fault = faults.get(path)?.shift()
    const reply = fault ? fault(act) : act()
    if (reply === 'hang') return
    if (reply === 'drop') return void request.socket.destroy()
    if ('texts' in reply) return stream(response, reply)
    const content = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    response.writeHead(reply.status, {
      'content-type': 'application/json',
      ...('headers' in reply && reply.headers),
    })
    response.end(content)
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swaps,
    state,
    requests,
    requestsTo: (path: string) => requests.filter((each) => each.path === path),
    /** Applies these faults to the next requests to this path, in order. */
    next: (path: string, ...wrong: Fault[]) => faults.set(path, [...(faults.get(path) ?? []), ...wrong]),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
