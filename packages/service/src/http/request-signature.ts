import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { type VerifyFailReason, verifyRequest } from '@slicekit/erc8128'
import { invalidRequest, ServiceError } from '../errors.ts'

export type SignedRequest = {
  method: string
  /** Path and query as they were sent. */
  target: string
  headers: IncomingHttpHeaders
  body: Buffer | undefined
}

type Options = {
  /** Host, and port unless it is 443 or 80, for which requests are signed, whatever host they name. */
  host: string
  /** The address whose key signed these bytes as a message (EIP-191), as `0x…`. */
  recover(message: string, signature: string): string | undefined
  now?: () => number
}

const LIFE_SECONDS = 60
const CLOCKS_APART_SECONDS = 10
const MAX_NONCES = 100_000

/**
 * Checks requests signed by ERC-8128. Returns the wallet; 401 otherwise. One process takes a nonce once. Another may
 * take it again: a replay repeats a read, or a call that is idempotent by its quote.
 */
export function createSignatureCheck({ host, recover, now = Date.now }: Options) {
  const nonceStore = createNonces(now)
  return async ({ method, target, headers, body }: SignedRequest): Promise<string> => {
    const text = `https://${host}${target}`
    const url = target.startsWith('/') && URL.canParse(text) ? new URL(text) : undefined
    // Fragments, dots and backslashes are read differently by the router and by the signer.
    if (!url || url.pathname + url.search !== target)
      throw refusal('the path and query must be in the form of a URL')
    let signer: string | undefined
    const verified = await verifyRequest({
      request: toRequest(url, { method, headers, body }),
      nonceStore,
      verifyMessage({ address, message, signature }) {
        signer = recover(message.raw, signature)
        return signer?.toLowerCase() === address
      },
      policy: {
        now: () => Math.floor(now() / 1_000),
        maxValiditySec: LIFE_SECONDS,
        clockSkewSec: CLOCKS_APART_SECONDS,
        maxSignatureVerifications: 1,
      },
    }).catch(() => undefined)
    if (verified?.ok && signer) return signer
    const why = verified?.ok === false ? PROBLEMS[verified.reason] : undefined
    throw refusal(why ?? `it is not by the wallet of keyid, or not for this request to ${host}`)
  }
}

function toRequest(url: URL, { method, headers, body }: Omit<SignedRequest, 'target'>): Request {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  try {
    return new Request(url, { method, headers: pairs, body: body?.length ? new Uint8Array(body) : null })
  } catch (cause) {
    throw refusal('this request cannot be signed', cause)
  }
}

const PROBLEMS: Partial<Record<VerifyFailReason, string>> = {
  missing_headers: 'the header Signature is missing',
  label_not_found: 'Signature and Signature-Input have no label in common',
  bad_signature_input: 'Signature-Input or Signature cannot be read',
  bad_keyid: 'keyid must be erc8128:CHAIN_ID:ADDRESS',
  not_yet_valid: 'created is in the future',
  expired: 'it has expired',
  validity_too_long: `expires must be at most ${LIFE_SECONDS} seconds after created`,
  replayable_not_allowed: 'it has no nonce',
  not_request_bound:
    'it must cover @authority, @method, @path, @query if there is one, and content-digest of a body',
  digest_required: 'the header Content-Digest is missing',
  digest_mismatch: 'Content-Digest is not that of the body, by sha-256',
  replay: 'its nonce was used before',
}

const refusal = (why: string, cause?: unknown) =>
  new ServiceError('INVALID_API_KEY', {
    message: `The signature of the request is refused: ${why}. Contract wallets need an API key.`,
    cause,
  })

/** As hashes: a caller chooses the length. With too many, the oldest is forgotten. */
function createNonces(now: () => number) {
  const used = new Map<string, number>()
  const keptMs = (LIFE_SECONDS + 2 * CLOCKS_APART_SECONDS) * 1_000
  return {
    async consume(key: string): Promise<boolean> {
      for (const [oldest, at] of used) {
        if (at + keptMs > now() && used.size < MAX_NONCES) break
        used.delete(oldest)
      }
      const name = hash('sha256', key, 'base64')
      if (used.has(name)) return false
      used.set(name, now())
      return true
    },
  }
}

/** Reads a body whole, before its signature is checked. */
export async function readBody(payload: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > limit) break
      chunks.push(chunk)
    }
  } catch {
    throw invalidRequest({ field: 'body', message: 'must be sent whole' })
  }
  if (length > limit) throw new ServiceError('BODY_TOO_LARGE')
  return Buffer.concat(chunks)
}
