// See docs/decisions.md#caip-ids.
/** CAIP-2, CAIP-10 and CAIP-19: ids of chains, accounts and tokens that other services understand too. */

/**
 * Per family: the namespace of its chains, that of its tokens, what requests name the native coin by and its SLIP-44
 * number, and with what addresses begin: an address is of the first family that fits.
 */
const families = {
  evm: {
    space: 'eip155',
    tokens: 'erc20',
    native: '0x0000000000000000000000000000000000000000',
    coin: 60,
    prefix: '0x',
  },
  solana: {
    space: 'solana',
    tokens: 'token',
    native: '11111111111111111111111111111111',
    coin: 501,
    prefix: '',
  },
} as const

/** Chains that have more than a number: the first 32 characters of their genesis hash. */
const NAMED: Readonly<Record<string, string>> = {
  'solana:792703809': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana:792703810': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}
/** Names of chains in version 1 of x402. */
export const NAMES_V1: Readonly<Record<number, string>> = {
  1: 'ethereum',
  137: 'polygon',
  8453: 'base',
  84532: 'base-sepolia',
  792703809: 'solana',
  792703810: 'solana-devnet',
}
/** Chains whose coin has another number than that of their family: BNB and POL. */
const COINS: Readonly<Record<string, number>> = { 'eip155:56': 714, 'eip155:137': 966 }

export type Family = keyof typeof families
export const FAMILIES = Object.keys(families) as Family[]
const DEFAULT: Family = 'evm'

const NUMBER = /^[1-9][0-9]{0,15}$/
const CHAIN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/
const ACCOUNT = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/
const TOKEN = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/

/** `eip155:8453`. Solana is named by its genesis hash, a local Solana chain by its number. */
export function toCaip2({ chainId, family }: { chainId: number; family: Family }): string {
  const plain = `${families[family].space}:${chainId}`
  return NAMED[plain] ?? plain
}

/** The family of a chain that has this address. */
export function familyOfAddress(address: string): Family {
  return FAMILIES.find((family) => address.startsWith(families[family].prefix)) ?? DEFAULT
}

/** The family of an id that begins with its chain. One of no known family is judged as of EVM. */
export function familyOfId(id: string): Family {
  return FAMILIES.find((family) => id.startsWith(`${families[family].space}:`)) ?? DEFAULT
}

/** The chain id of a CAIP-2 id; undefined if the text is no such id, or its chain has no known number. */
export function fromCaip2(text: string): number | undefined {
  const { space } = families[familyOfId(text)]
  if (!CHAIN.test(text) || !text.startsWith(`${space}:`)) return undefined
  const plain = Object.keys(NAMED).find((each) => NAMED[each] === text) ?? text
  const reference = plain.slice(space.length + 1)
  return NUMBER.test(reference) && Number.isSafeInteger(Number(reference)) ? Number(reference) : undefined
}

/** `eip155:8453:0x…` */
export function toCaip10(chain: string, address: string): string {
  return `${chain}:${address}`
}

/** `eip155:8453/erc20:0x…`, or `eip155:8453/slip44:60` for the native coin. */
export function toCaip19(chain: string, address: string): string {
  const { native, tokens, coin } = idsOn(chain)
  return address === native ? `${chain}/${coin}` : `${chain}/${tokens}:${address}`
}

type Named = { address: string } | { problem: string }

/** The address of an account on this chain, by its CAIP-10 id. Any other text is taken for the address. */
export function accountOn(chain: string, text: string): Named {
  if (!text.includes(':')) return { address: text }
  const [, named, address] = ACCOUNT.exec(text) ?? []
  if (named === undefined || address === undefined)
    return { problem: `must be a CAIP-10 account, such as ${chain}:ADDRESS` }
  return named === chain ? { address } : { problem: `is on ${named}, not on ${chain}` }
}

/** The address of a token on this chain, by its CAIP-19 id. Any other text is taken for the address. */
export function tokenOn(chain: string, text: string): Named {
  if (!text.includes(':')) return { address: text }
  const [, named = chain, kind, reference = ''] = TOKEN.exec(text) ?? []
  if (named !== chain) return { problem: `is on ${named}, not on ${chain}` }
  const { native, tokens, coin } = idsOn(chain)
  if (kind === tokens) return { address: reference }
  if (`${kind}:${reference}` === coin) return { address: native }
  return {
    problem: `must be a CAIP-19 token, such as ${chain}/${tokens}:ADDRESS, or ${chain}/${coin}`,
  }
}

function idsOn(chain: string): { native: string; tokens: string; coin: string } {
  const { native, tokens, coin } = families[familyOfId(chain)]
  return { native, tokens, coin: `slip44:${COINS[chain] ?? coin}` }
}
