import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** The result of one attempt to post an event. */
export type Answer =
  | { kind: 'answered'; status: number; retryAfterMs?: number }
  | { kind: 'failed'; reason: string }

/** The consequence of an attempt for its delivery. `gone` also disables the endpoint. */
export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'retry'; pauseMs: number; failure: string }
  | { kind: 'givenUp'; failure: string }
  | { kind: 'gone'; failure: string }

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Pauses after each attempt, as Standard Webhooks suggests: ten attempts in three days. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
const LONGEST_PAUSE_MS = 24 * HOUR_MS

/** `attempts` includes this one. `random` (0..1) lengthens a pause by up to a fifth. */
export function judgeAttempt(
  answer: Answer,
  { attempts, random }: { attempts: number; random: number },
): Verdict {
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300) return { kind: 'delivered' }
  const failure = answer.kind === 'answered' ? `it answered ${answer.status}` : answer.reason
  if (answer.kind === 'answered' && answer.status === 410) return { kind: 'gone', failure }
  const pause = RETRY_PAUSES_MS[attempts - 1]
  if (pause === undefined) return { kind: 'givenUp', failure }
  const asked = answer.kind === 'answered' ? Math.min(answer.retryAfterMs ?? 0, LONGEST_PAUSE_MS) : 0
  return { kind: 'retry', pauseMs: Math.round(Math.max(pause, asked) * (1 + random / 5)), failure }
}

// All ranges that IANA's special-purpose registry does not list as globally reachable, multicast, and IPv6 ranges that
// embed an IPv4 address (6to4 and Teredo). Addresses outside of 2000::/3 are not public.
const NOT_PUBLIC_V4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const NOT_PUBLIC_V6: [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const notPublic = new BlockList()
for (const [net, prefix] of NOT_PUBLIC_V4) notPublic.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of NOT_PUBLIC_V6) notPublic.addSubnet(net, prefix, 'ipv6')
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  // An address with a zone is local to an interface; the block lists do not accept it.
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 4) return !notPublic.check(address, 'ipv4')
  return version === 6 && globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

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
  return { kind: 'answered', status: statusCode, retryAfterMs }
}

function describe(error: Error & { code?: string }, isLate: boolean, timeoutMs: number): string {
  if (isLate) return `it did not answer within ${timeoutMs / 1_000} s`
  if (error instanceof RefusedAddress) return NOT_PUBLIC
  return `it cannot be reached (${error.code ?? error.name})`
}
