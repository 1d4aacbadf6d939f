import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Answer } from '../model/webhook.ts'
import { isPublicAddress } from './public-address.ts'

export type Post = (message: Posted) => Promise<Answer>
type Posted = { url: string; headers: Record<string, string>; body: string; signal: AbortSignal }

type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

type Options = {
  /** Allows plain HTTP and addresses that are not public, for a local network. */
  allowPrivate: boolean
  timeoutMs?: number
  resolve?: Resolve
}

// Standard Webhooks suggests 15 to 30 s.
const TIMEOUT_MS = 15_000
const NOT_PUBLIC = 'its address is not public'
const NOT_HTTPS = 'its URL is not https'

class RefusedAddress extends Error {}

/**
 * Posts to an untrusted URL. The name is resolved once, all of its addresses must be public, and the connection uses
 * one of them, so that DNS rebinding has no effect. Redirects are answers like any other. The response body is ignored.
 */
export function createPost({ allowPrivate, timeoutMs = TIMEOUT_MS, resolve = lookup }: Options): Post {
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address)
  const checkedLookup = createCheckedLookup(resolve, isAllowed)

  return async ({ url, headers, body, signal }) => {
    const { protocol, hostname } = new URL(url)
    if (protocol !== 'https:' && !allowPrivate) return { kind: 'failed', reason: NOT_HTTPS }
    // An IP address in the URL is never looked up.
    const literal = hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) && !isAllowed(literal)) return { kind: 'failed', reason: NOT_PUBLIC }
    const send = protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, { method: 'POST', headers, agent: false, lookup: checkedLookup })
    const limit = abortOnTimeout(request, { timeoutMs, signal })
    return new Promise((settle) => {
      request.on('response', (response) => {
        settle(toAnswer(response))
        // Reads and discards the response, so that the receiver is not cut off; the timeout still applies.
        response.on('error', () => {}).resume()
      })
      request.on('error', (error) => {
        settle({ kind: 'failed', reason: describe(error, limit.isLate(), timeoutMs) })
      })
      request.end(body)
    })
  }
}

/** Ends the request on the signal or timeout, at any stage. */
function abortOnTimeout(
  request: ClientRequest,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
) {
  let late = false
  const end = () => void request.destroy(new Error('The attempt was aborted'))
  const timer = setTimeout(() => {
    late = true
    end()
  }, timeoutMs)
  signal.addEventListener('abort', end)
  request.once('close', () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  })
  return { isLate: () => late }
}

function createCheckedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('The name has no address'), '', 0)
      if (!addresses.every(({ address }) => isAllowed(address))) return callback(new RefusedAddress(), '', 0)
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage): Answer {
  const seconds = headers['retry-after']
  const retryAfterMs =
    seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
  return { kind: 'answered', status: statusCode, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function describe(error: Error & { code?: string }, isLate: boolean, timeoutMs: number): string {
  if (isLate) return `it did not answer within ${timeoutMs / 1_000} s`
  if (error instanceof RefusedAddress) return NOT_PUBLIC
  return `it cannot be reached (${error.code ?? error.name})`
}
