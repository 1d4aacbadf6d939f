import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { accountOn, toCaip2, tokenOn } from '@geoswap/wire/caip'
import { UserError } from './errors.ts'
import type { FamilyName } from './families/family.ts'
import { families } from './families/registry.ts'
import { plainName } from './plain.ts'

export type Catalog = { chains: readonly ChainEntry[]; tokens: readonly TokenEntry[] }
export type Side = { chain: ChainEntry; token: TokenEntry }

/** Chains with printable names, since the service chooses them. */
export function toPlainChains(chains: readonly ChainEntry[]): ChainEntry[] {
  return chains.map(({ name, native, ...chain }) => ({
    ...chain,
    name: plainName(name),
    native: { ...native, symbol: plainName(native.symbol) },
  }))
}

export function toPlainTokens(tokens: readonly TokenEntry[]): TokenEntry[] {
  return tokens.map((token) => ({ ...token, symbol: plainName(token.symbol) }))
}

/** `alpha:USDC`: a chain by name or id, then a token by symbol or address. Or a CAIP-19 token. */
export function getSide({ chains, tokens }: Catalog, text: string): Side {
  const [caipChain = '', asset] = text.split('/')
  if (asset !== undefined) {
    const chain = getChain(chains, caipChain)
    return { chain, token: getToken(tokens, chain, getAddressIn(tokenOn(toCaip2(chain), text), text)) }
  }
  const [, chainText, tokenText] = /^([^:]+):([^:]+)$/.exec(text) ?? []
  if (chainText === undefined || tokenText === undefined)
    throw new UserError('USAGE', `${text} is not CHAIN:TOKEN.`, { advice: 'Write it like alpha:USDC.' })
  const chain = getChain(chains, chainText)
  return { chain, token: getToken(tokens, chain, tokenText) }
}

/** The address of a CAIP-10 account on this chain. */
export function getAccount(chain: Pick<ChainEntry, 'chainId' | 'family' | 'name'>, text: string): string {
  const address = getAddressIn(accountOn(toCaip2(chain), text), text)
  if (isAddressOf(chain.family, address)) return toCanonical(chain.family, address)
  throw new UserError('BAD_ADDRESS', `${address} is not an address on ${chain.name}.`)
}

/** The address in a CAIP id. */
function getAddressIn(named: ReturnType<typeof tokenOn>, text: string): string {
  if ('address' in named) return named.address
  throw new UserError('USAGE', `${text} ${named.problem}.`)
}

/** By name, number or CAIP-2 id. */
export function getChain(chains: readonly ChainEntry[], text: string): ChainEntry {
  const found = chains.find(
    (chain) => chain.name === text || `${chain.chainId}` === text || toCaip2(chain) === text,
  )
  if (found) return found
  const advice = `There are ${chains.map(({ chainId, name }) => `${name} (${chainId})`).join(', ')}.`
  throw new UserError('UNKNOWN_CHAIN', `There is no chain ${text}.`, { advice })
}

/** Symbols in any case, unless they differ in their case only. */
function getToken(tokens: readonly TokenEntry[], chain: ChainEntry, text: string): TokenEntry {
  const here = tokens.filter(({ chainId }) => chainId === chain.chainId)
  const { parseAddress } = families[chain.family]
  const named = parseAddress(text)
  const exact = here.filter(({ symbol, address }) =>
    named === undefined ? symbol === text : parseAddress(address) === named,
  )
  const found = exact.length > 0 ? exact : here.filter(({ symbol }) => isSameText(symbol, text))
  const [only] = found
  if (only && found.length === 1) return assertReadable(only)
  throw found.length > 1 ? ambiguous(found, chain, text) : unknown(here, chain, text)
}

const isSameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

// More than any token has, and few enough to compute with.
const MAX_DECIMALS = 77

function assertReadable(token: TokenEntry): TokenEntry {
  const { decimals, symbol } = token
  if (Number.isInteger(decimals) && decimals >= 0 && decimals <= MAX_DECIMALS) return token
  throw new UserError(
    'WRONG_DECIMALS',
    `The service reports ${decimals} decimals for ${symbol}, which cannot be right.`,
  )
}

function ambiguous(found: readonly TokenEntry[], chain: ChainEntry, text: string): UserError {
  const advice = `Name one by its address: ${found.map(({ address }) => address).join(', ')}.`
  return new UserError('UNKNOWN_TOKEN', `Several tokens on ${chain.name} are called ${text}.`, { advice })
}

function unknown(here: readonly TokenEntry[], chain: ChainEntry, text: string): UserError {
  const advice = `There are ${here.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')}.`
  return new UserError('UNKNOWN_TOKEN', `There is no token ${text} on ${chain.name}.`, { advice })
}

/** EVM addresses in any case; mixed case must have a valid checksum. */
export function isAddressOf(family: FamilyName, text: string): boolean {
  return families[family].parseAddress(text) !== undefined
}

/** The form used for comparing and storing. */
export function toCanonical(family: FamilyName, address: string): string {
  return families[family].parseAddress(address) ?? address
}
