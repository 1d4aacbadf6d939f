import { type ExactPayment, toExactPayment } from '@geoswap/wire'
import { MAX_UINT256 } from '../../swap/amount.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The header of each version of x402. Node's names of headers are in lower case. */
const HEADERS = ['payment-signature', 'x-payment'] as const
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const MAX_LENGTH = 12_288

/** A payment, or what is wrong with it; undefined if there is none. Headers are a stranger's: nothing here throws. */
export function readPayment(headers: Headers): ExactPayment | { field: string; message: string } | undefined {
  const sent = HEADERS.filter((name) => headers[name] !== undefined)
  const [field] = sent
  if (field === undefined) return undefined
  const refuse = (message: string) => ({ field, message })
  if (sent.length > 1) return refuse('must be sent without x-payment')
  const text = headers[field]
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !BASE64.test(text))
    return refuse(`must be base64 of at most ${MAX_LENGTH} characters`)
  const payment = toExactPayment(parseJson(Buffer.from(text, 'base64').toString()))
  if (!payment)
    return refuse(
      'must be a payment of x402 with the scheme exact, by an EIP-3009 authorization or a transaction',
    )
  if ('transaction' in payment) return payment
  const { validAfter, validBefore } = payment.authorization
  if ([validAfter, validBefore].some((time) => BigInt(time) > MAX_UINT256))
    return refuse('must have times that fit into 256 bits')
  return payment
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As tokens take it: some keys sign with v 0 or 1. */
export function toTokenSignature(signature: string): string {
  const v = signature.length === 132 ? Number.parseInt(signature.slice(130), 16) : undefined
  if (v !== 0 && v !== 1) return signature
  return `${signature.slice(0, 130)}${(27 + v).toString(16)}`
}
