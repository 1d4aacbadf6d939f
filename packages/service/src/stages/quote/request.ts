import type { NamedQuoteRequest } from '@geoswap/wire'
import type { AddressRules } from '../../chains/family.ts'
import { type Issue, invalidRequest, ServiceError } from '../../errors.ts'
import {
  accountOn,
  arePegged,
  type Catalog,
  type CatalogChain,
  findChain,
  findToken,
  type Token,
  toCaip2,
  tokenOn,
} from '../../swap/catalog.ts'
import { type QuoteStop, type SwapSide, stopsSide } from '../../swap/stop.ts'

/** The rules for addresses of a chain: one object for each family. */
export type AddressesOf = (
  chain: Pick<CatalogChain, 'family'>,
) => Pick<AddressRules, 'parse' | 'canSign' | 'form'>

/** A validated quote request. */
export type Order = {
  origin: CatalogChain
  destination: CatalogChain
  input: Token
  output: Token
  amount: bigint
  wallet: string
  recipient: string
  slippageBps: number
  tradeType: 'exactInput' | 'exactOutput'
  /** The fee that the account adds for itself, in hundredths of a basis point. */
  integratorCentiBps: number
  /** The caller's own name for the swap. */
  externalId?: string | undefined
  /** The longest time that the swap may take; undefined without a limit. */
  maxEtaSeconds?: number | undefined
  /** The least amount that the destination lets this recipient receive. */
  leastOutput: bigint
}

/** Validates the request, or refuses it with all of its invalid fields. */
export function toOrder(catalog: Catalog, addressesOf: AddressesOf, request: NamedQuoteRequest): Order {
  const origin = getChain(catalog, request.originChain, 'originChain')
  const destination = getChain(catalog, request.destinationChain, 'destinationChain')
  const issues: Issue[] = []
  const parsing = { addressesOf, issues }

  const inputToken = parse(parsing, origin, 'inputToken', request.inputToken)
  const outputToken = parse(parsing, destination, 'outputToken', request.outputToken)
  const wallet = parse(parsing, origin, 'walletAddress', request.walletAddress)
  const recipient = recipientOf(parsing, { request, origin, destination, wallet })
  const tradeType = request.tradeType ?? 'exactInput'
  const amount = BigInt(request.amount)
  const { maxAmount } = tradeType === 'exactInput' ? origin : destination
  if (amount === 0n) issues.push({ field: 'amount', message: 'must be more than 0' })
  if (amount > maxAmount)
    issues.push({ field: 'amount', message: `must be at most ${maxAmount} smallest units` })
  if (wallet !== '' && !addressesOf(origin).canSign(wallet))
    issues.push({ field: 'walletAddress', message: 'is an address that nobody can sign for' })
  checkParty(origin, 'walletAddress', wallet, inputToken, issues)
  checkParty(destination, 'recipient', recipient, outputToken, issues)
  if (issues.length > 0) throw invalidRequest(...issues)

  const input = getToken(origin, inputToken)
  const output = getToken(destination, outputToken)
  // To another recipient it is a transfer. See docs/decisions.md#transfers.
  if (input === output && wallet === recipient) {
    throw new ServiceError('NO_ROUTE', {
      message:
        'Input and output are the same token of the same wallet. Name another token, chain or recipient.',
    })
  }
  const slippageBps = request.slippageBps ?? defaultSlippageBps(catalog, input, output)
  const parties = { wallet, recipient, leastOutput: 0n }
  const { maxEtaSeconds, externalId, integratorFeeCentiBps: integratorCentiBps = 0 } = request
  const limits = { slippageBps, tradeType, maxEtaSeconds, integratorCentiBps, externalId }
  return { origin, destination, input, output, amount, ...parties, ...limits }
}

type Parsing = { addressesOf: AddressesOf; issues: Issue[] }

type Field = 'inputToken' | 'outputToken' | 'walletAddress' | 'recipient'

/** The address that the text is, or names by its CAIP id. */
function parse({ addressesOf, issues }: Parsing, chain: CatalogChain, field: Field, text: string): string {
  const find = field.endsWith('Token') ? tokenOn : accountOn
  const named = text.includes(':') ? find(toCaip2(chain), text) : { address: text }
  const address = 'address' in named ? addressesOf(chain).parse(named.address) : undefined
  if (address) return address
  const wrong = `must be ${addressesOf(chain).form}`
  issues.push({ field, message: 'problem' in named ? named.problem : wrong })
  return ''
}

type Parties = { request: NamedQuoteRequest; origin: CatalogChain; destination: CatalogChain; wallet: string }

function recipientOf(parsing: Parsing, { request, origin, destination, wallet }: Parties): string {
  if (request.recipient !== undefined) return parse(parsing, destination, 'recipient', request.recipient)
  const { addressesOf, issues } = parsing
  if (addressesOf(origin) === addressesOf(destination)) return wallet
  issues.push({
    field: 'recipient',
    message: `is required from a chain of another family: ${addressesOf(destination).form}`,
  })
  return ''
}

// 1 to 17 since EIP-2537, and 256 since EIP-7951: no key exists for these addresses.
const PRECOMPILE = /^0x0{37}(00[1-9a-f]|01[01]|100)$/i

/** Refuses parties that would lose the money: the zero address, the token itself, our own contracts and precompiles. */
function checkParty(chain: CatalogChain, field: string, party: string, token: string, issues: Issue[]): void {
  if (party === '') return
  if (party === chain.native.address) issues.push({ field, message: 'must not be the zero address' })
  else if (party === token) issues.push({ field, message: 'must not be the token itself' })
  else if (chain.ownAddresses.includes(party))
    issues.push({ field, message: 'must not be an address of this service' })
  else if (PRECOMPILE.test(party)) issues.push({ field, message: 'must not be a precompiled contract' })
}

function getChain(catalog: Catalog, chainId: number | string, field: string): CatalogChain {
  const chain = findChain(catalog, chainId)
  if (chain) return chain
  const supported = [...catalog.chains.keys()]
  throw new ServiceError('UNSUPPORTED_CHAIN', {
    message: `${field} ${chainId} is not served here. Supported chains: ${supported.join(', ')}.`,
    details: { field, supported },
  })
}

function getToken(chain: CatalogChain, address: string): Token {
  const token = findToken(chain, address)
  const closed = chain.whyClosed?.(address)
  if (token && closed === undefined) return token
  const supported = chain.tokens
    .filter(({ address }) => chain.whyClosed?.(address) === undefined)
    .map(({ symbol, address }) => ({ symbol, address }))
  const why = closed === undefined ? '' : ` now: ${closed}`
  throw new ServiceError('UNSUPPORTED_TOKEN', {
    message: `${address} is not a token that can be swapped on ${chain.name}${why}.`,
    details: { token: address, supported, closed },
  })
}

function defaultSlippageBps(catalog: Catalog, input: Token, output: Token): number {
  return arePegged(catalog, input, output) ? 50 : 300
}

export type FindStop = (swap: { from: SwapSide; to: SwapSide }) => QuoteStop | undefined

const RETRY_AFTER_MS = 30_000

/**
 * Answers 503 if the operator, or a mismatch between chain and books, has stopped this order. Names the stopped part,
 * never the reason.
 */
export function assertNotStopped(findStop: FindStop, { origin, destination, input, output }: Order): void {
  const stop = findStop({ from: toSide(input), to: toSide(output) })
  if (!stop) return
  const isInput = stopsSide(stop, toSide(input))
  const chain = isInput ? origin : destination
  const { symbol } = isInput ? input : output
  const isRoute = stop.scope.kind === 'route'
  const what = isRoute
    ? `from ${input.symbol} on ${origin.name} to ${output.symbol} on ${destination.name}`
    : `of ${symbol} on ${chain.name}`
  throw new ServiceError('CHAIN_UNAVAILABLE', {
    message: `Swaps ${what} are stopped for now. Try again later, or choose another route.`,
    details: { chainId: chain.chainId, stopped: true },
    recovery: { retryAfterMs: RETRY_AFTER_MS },
  })
}

function toSide({ chainId, address, asset }: Token): SwapSide {
  return { chainId, token: address, asset }
}
