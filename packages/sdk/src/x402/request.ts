import { keccak256, toHex } from 'viem'
import { plainText } from '../errors.ts'
import { quoted, X402Error, type X402Standing } from './errors.ts'

export type X402Request = {
  url: string
  method?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | undefined
}

export type Answer = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> }

export type Ask = {
  fetch: typeof fetch
  timeoutMs: number
  maxBytes: number
  signal: AbortSignal | undefined
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]']
const OWN_HEADERS = ['payment-signature', 'x-payment']

/** Without encryption anybody on the network path could take the answer, or ask for a payment of their own. */
export function assertPayable({ url, headers = {} }: X402Request, isInsecure: boolean): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const refuse = (why: string) => new X402Error('X402_URL', `${plainText(url, 200)} ${why}`)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw refuse('is no http address.')
  if (parsed.username || parsed.password) throw refuse('has a password in it.')
  const isOpen = parsed.protocol === 'http:' && !LOCAL.includes(parsed.hostname)
  if (isOpen && !isInsecure) throw refuse('is not encrypted, and not on this machine.')
  const own = Object.keys(headers).find((name) => OWN_HEADERS.includes(name.toLowerCase()))
  if (own !== undefined) throw new X402Error('X402_URL', `The header ${own} is that of a payment.`)
}

/** The same for requests of the same thing by the same payer. */
export function keyOf({ url, method = 'GET', body = '' }: X402Request, payer: string): string {
  const { href } = new URL(url)
  return keccak256(toHex(JSON.stringify([method.toUpperCase(), href, body, payer.toLowerCase()]))).slice(
    2,
    34,
  )
}

/** One request, never another one: no redirect is followed. `standing` says what is at stake. */
export async function ask(
  { fetch, timeoutMs, maxBytes, signal }: Ask,
  { url, method = 'GET', headers, body }: X402Request,
  payment: { header: Readonly<Record<string, string>>; standing: X402Standing } | undefined,
): Promise<Answer> {
  const standing = payment?.standing ?? { payment: 'none' }
  const late = AbortSignal.timeout(timeoutMs)
  const limit = signal ? AbortSignal.any([signal, late]) : late
  // A connection that was kept open may be closed just when the payment is sent on it. Browsers ignore the header.
  const all = { connection: 'close', ...headers, ...payment?.header }
  const init = { method, headers: all, redirect: 'manual', signal: limit } as const
  try {
    const response = await fetch(url, body === undefined ? init : { ...init, body })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      const to = quoted(response.headers.get('location') ?? 'another address')
      throw new X402Error('X402_REDIRECT', `The seller sends on to ${to}, which was not followed.`, {
        standing,
      })
    }
    return { status: response.status, headers: response.headers, body: await readAll(response, maxBytes) }
  } catch (cause) {
    if (cause instanceof X402Error) throw new X402Error(cause.code, cause.message, { standing, cause })
    if (signal?.aborted && !payment) throw signal.reason
    const why = late.aborted
      ? `did not answer within ${timeoutMs / 1_000} s`
      : 'cannot be reached, or broke off'
    throw new X402Error('X402_NO_ANSWER', `The seller ${why}.`, { standing, cause })
  }
}

async function readAll({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let length = 0
  const reader = body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length
    parts.push(read.value)
    if (length <= maxBytes) continue
    await reader?.cancel()
    throw new X402Error('X402_TOO_LARGE', `The seller's answer is longer than ${maxBytes} bytes.`)
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
