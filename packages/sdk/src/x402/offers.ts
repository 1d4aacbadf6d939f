import { familyOfId, fromCaip2, toCaip2 } from '@geoswap/wire/caip'
import { plainText } from '../errors.ts'
import type { Fields, X402Offer } from './family.ts'
import { families } from './registry.ts'

/** All that a seller asks for. Its texts are cleaned and cut. */
export type X402Demand = {
  version: 1 | 2
  offers: readonly X402Offer[]
  /** The offers that cannot be read, each with the reason. */
  unread: readonly string[]
  description: string
  /** The reason why the seller refuses a payment. */
  error: string
  resource: unknown
  extensions: unknown
}

const MAX_OFFERS = 20
const MAX_TEXT = 200
// Servers take 16 kB of headers, and base64 adds a third.
const MAX_REPEATED = 4_000
const LEAST_SECONDS = 10
const MOST_SECONDS = 600
const AMOUNT = /^[1-9]\d{0,77}$/

/** Names of version 1 for chains; other networks are CAIP-2 ids. */
const NAMED: Readonly<Record<string, string>> = {
  ethereum: 'eip155:1',
  sepolia: 'eip155:11155111',
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  polygon: 'eip155:137',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}

/**
 * Reads a 402: version 2 is in the header PAYMENT-REQUIRED, version 1 in the body. Undefined if neither asks for a
 * payment.
 */
export function readDemand(header: string | null, body: string): X402Demand | undefined {
  const asked = header === null ? parse(body) : parse(fromBase64(header))
  const version = header === null ? 1 : 2
  if (asked?.['x402Version'] !== version || !Array.isArray(asked['accepts'])) return undefined
  const listed: readonly unknown[] = asked['accepts']
  const read = listed.slice(0, MAX_OFFERS).map((offer) => readOffer(offer, version))
  const { resource, extensions } = asked
  if (!isShort(resource) || !isShort(extensions)) return undefined
  const [first] = listed
  const described = asFields(version === 2 ? resource : first)['description']
  return {
    version,
    offers: read.filter((offer) => typeof offer !== 'string'),
    unread: read.filter((offer) => typeof offer === 'string'),
    description: wordsOf(described, MAX_TEXT),
    error: wordsOf(asked['error'], MAX_TEXT),
    resource,
    extensions,
  }
}

/** The offer, or why it cannot be paid. */
function readOffer(value: unknown, version: 1 | 2): X402Offer | string {
  const accepted = asFields(value)
  const { scheme, network, maxTimeoutSeconds, extra } = accepted
  const where = nameOf(network)
  const amount = accepted[version === 1 ? 'maxAmountRequired' : 'amount']
  if (scheme !== 'exact') return `${where}: the scheme ${nameOf(scheme)} is not known`
  const chain = chainOf(network)
  if (!chain) return `${where}: the network is not known`
  if (!isText(amount) || !AMOUNT.test(amount)) return `${where}: the amount is no whole number`
  const family = families[chain.family]
  const parse = (text: unknown) => (isText(text) ? family.parseAddress(text) : undefined)
  const [asset, payTo] = [parse(accepted['asset']), parse(accepted['payTo'])]
  if (asset === undefined) return `${where}: the asset is no address`
  if (payTo === undefined) return `${where}: payTo is no address`
  if (payTo === asset) return `${where}: payTo is nobody's address`
  if (!isShort(accepted)) return `${where}: the offer is too long`
  const seconds = Number.isInteger(maxTimeoutSeconds) ? Number(maxTimeoutSeconds) : 0
  if (seconds < LEAST_SECONDS) return `${where}: it allows less than ${LEAST_SECONDS} s`
  const life = Math.min(seconds, MOST_SECONDS)
  const { chainId } = chain
  const read = { chainId, asset, amount: BigInt(amount), payTo, seconds: life, accepted }
  const offer = family.readOffer(read, asFields(extra))
  return typeof offer === 'string' ? `${where}: ${offer}` : offer
}

/** The offer that is no worse than the one shown: the same token for at most that amount, best to its payee. */
export function findSame(
  { offers }: X402Demand,
  shown: Pick<X402Offer, 'chainId' | 'asset' | 'payTo' | 'amount'>,
): X402Offer | undefined {
  const same = offers.filter(
    ({ chainId, asset, amount }) =>
      chainId === shown.chainId && asset === shown.asset && amount <= shown.amount,
  )
  return same.find(({ payTo }) => payTo === shown.payTo) ?? same[0]
}

// A hash in hex digits, or a signature in base58.
const TRANSACTION = /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/
type Receipt = { transaction?: string | undefined; error?: string | undefined }

/** The seller's word about the settlement, in PAYMENT-RESPONSE or X-PAYMENT-RESPONSE. */
export function readReceipt(header: string | null): Receipt {
  const { transaction, errorReason, success } = parse(fromBase64(header ?? '')) ?? {}
  return {
    transaction: isText(transaction) && TRANSACTION.test(transaction) ? transaction : undefined,
    error: success === false ? wordsOf(errorReason, MAX_TEXT) : undefined,
  }
}

/** Only the id that a chain has, and none that is read as it. */
function chainOf(network: unknown): Pick<X402Offer, 'chainId' | 'family'> | undefined {
  if (!isText(network)) return undefined
  const id = Object.hasOwn(NAMED, network) ? (NAMED[network] ?? '') : network
  const [chainId, family] = [fromCaip2(id), familyOfId(id)]
  return chainId !== undefined && toCaip2({ chainId, family }) === id ? { chainId, family } : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Whether it can be repeated in a header. Deeper nesting than JSON writes cannot. */
function isShort(value: unknown): boolean {
  try {
    return (JSON.stringify(value) ?? '').length <= MAX_REPEATED
  } catch {
    return false
  }
}

const NAME = /^[\w:.-]{1,40}$/

/** The seller's name of something, unless it could be a sentence. */
export const nameOf = (value: unknown): string => (isText(value) && NAME.test(value) ? value : 'unreadable')

const wordsOf = (value: unknown, most: number): string => (isText(value) ? plainText(value, most).trim() : '')

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

function parse(text: string): Fields | undefined {
  try {
    return asFields(JSON.parse(text))
  } catch {
    return undefined
  }
}

function fromBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))
  } catch {
    return ''
  }
}
