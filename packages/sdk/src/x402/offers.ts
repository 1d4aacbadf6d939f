import { fromCaip2 } from '@geoswap/wire/caip'
import { type Address, getAddress, isAddress, maxUint256, zeroAddress } from 'viem'
import { plainText } from '../errors.ts'

type Fields = Readonly<Record<string, unknown>>

/** One way to pay that the seller offers: the scheme `exact` by EIP-3009, on an EVM chain. */
export type X402Offer = {
  chainId: number
  asset: Address
  amount: bigint
  payTo: Address
  /** How long the payment can be used. */
  seconds: number
  domain: { name: string; version: string }
  /** As the seller wrote it: the payment repeats it. */
  accepted: Fields
}

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
const MAX_WORD = 60
// Servers take 16 kB of headers, and base64 adds a third.
const MAX_REPEATED = 4_000
const LEAST_SECONDS = 10
const MOST_SECONDS = 600
const AMOUNT = /^[1-9]\d{0,77}$/

/** Names of version 1 for chains; other networks are CAIP-2 ids. */
const NAMED: Readonly<Record<string, number>> = {
  ethereum: 1,
  sepolia: 11_155_111,
  base: 8_453,
  'base-sepolia': 84_532,
  polygon: 137,
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
  const { scheme, network, asset, payTo, maxTimeoutSeconds, extra } = accepted
  const where = nameOf(network)
  const amount = accepted[version === 1 ? 'maxAmountRequired' : 'amount']
  const { name, version: of, assetTransferMethod = 'eip3009' } = asFields(extra)
  if (scheme !== 'exact') return `${where}: the scheme ${nameOf(scheme)} is not known`
  if (assetTransferMethod !== 'eip3009') return `${where}: only EIP-3009 is signed`
  const chainId = chainIdOf(network)
  if (chainId === undefined) return `${where}: payments are made on EVM chains`
  if (!isText(amount) || !AMOUNT.test(amount) || BigInt(amount) > maxUint256)
    return `${where}: the amount is no whole number`
  if (!isText(asset) || !isAddress(asset)) return `${where}: the asset is no address`
  if (!isText(payTo) || !isAddress(payTo)) return `${where}: payTo is no address`
  if (!isShortText(name) || !isShortText(of)) return `${where}: the token's EIP-712 domain is missing`
  if (!isShort(accepted)) return `${where}: the offer is too long`
  const to = { asset: getAddress(asset), payTo: getAddress(payTo) }
  if (to.payTo === to.asset || to.payTo === zeroAddress) return `${where}: payTo is nobody's address`
  const seconds = Number.isInteger(maxTimeoutSeconds) ? Number(maxTimeoutSeconds) : 0
  if (seconds < LEAST_SECONDS) return `${where}: it allows less than ${LEAST_SECONDS} s`
  const life = Math.min(seconds, MOST_SECONDS)
  return { chainId, ...to, amount: BigInt(amount), seconds: life, domain: { name, version: of }, accepted }
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

type Receipt = { transaction?: string | undefined; error?: string | undefined }

/** The seller's word about the settlement, in PAYMENT-RESPONSE or X-PAYMENT-RESPONSE. */
export function readReceipt(header: string | null): Receipt {
  const { transaction, errorReason, success } = parse(fromBase64(header ?? '')) ?? {}
  return {
    transaction: isText(transaction) && /^0x[0-9a-f]{64}$/i.test(transaction) ? transaction : undefined,
    error: success === false ? wordsOf(errorReason, MAX_TEXT) : undefined,
  }
}

function chainIdOf(network: unknown): number | undefined {
  if (!isText(network)) return undefined
  if (Object.hasOwn(NAMED, network)) return NAMED[network]
  return network.startsWith('eip155:') ? fromCaip2(network) : undefined
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isShortText = (value: unknown): value is string =>
  isText(value) && value !== '' && value.length <= MAX_WORD

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
