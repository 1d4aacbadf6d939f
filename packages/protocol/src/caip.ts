// See docs/decisions.md#caip-ids.
/** CAIP-2, CAIP-10 and CAIP-19: ids of chains, accounts and tokens that other services understand too. */

export type Family = 'evm' | 'solana'

// The first 32 characters of the genesis hash.
const SOLANA_REFERENCES: Readonly<Record<number, string>> = {
  792703809: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  792703810: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}
const NUMBER = /^[1-9][0-9]{0,15}$/
const CHAIN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/
const ACCOUNT = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/
const TOKEN = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})\/([-a-z0-9]{3,8}):([-.%a-zA-Z0-9]{1,128})$/

/** `eip155:8453`. Solana is named by its genesis hash, a local Solana chain by its number. */
export function toCaip2({ chainId, family }: { chainId: number; family: Family }): string {
  return family === 'evm' ? `eip155:${chainId}` : `solana:${SOLANA_REFERENCES[chainId] ?? chainId}`
}

/** The family of a chain that has this address. */
export function familyOfAddress(address: string): Family {
  return address.startsWith('0x') ? 'evm' : 'solana'
}

/** The chain id of a CAIP-2 id; undefined if the text is no such id, or its chain has no known number. */
export function fromCaip2(text: string): number | undefined {
  if (!CHAIN.test(text)) return undefined
  const [namespace = '', reference = ''] = text.split(':')
  if (namespace !== 'eip155' && namespace !== 'solana') return undefined
  const [known] = Object.entries(SOLANA_REFERENCES).find(([, each]) => each === reference) ?? []
  if (namespace === 'solana' && known !== undefined) return Number(known)
  return NUMBER.test(reference) && Number.isSafeInteger(Number(reference)) ? Number(reference) : undefined
}

/** `eip155:8453:0x…` */
export function toCaip10(chain: string, address: string): string {
  return `${chain}:${address}`
}

/** `eip155:8453/erc20:0x…`, or `eip155:8453/slip44:60` for the native coin. */
export function toCaip19(chain: string, address: string): string {
  const { native, kind } = namespaceOf(chain)
  return address === native ? `${chain}/slip44:${coinTypeOf(chain)}` : `${chain}/${kind}:${address}`
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
  const { native, kind: ofTokens } = namespaceOf(chain)
  const coin = `slip44:${coinTypeOf(chain)}`
  if (kind === ofTokens) return { address: reference }
  if (`${kind}:${reference}` === coin) return { address: native }
  return {
    problem: `must be a CAIP-19 token, such as ${chain}/${ofTokens}:ADDRESS, or ${chain}/${coin}`,
  }
}

const EVM = { native: '0x0000000000000000000000000000000000000000', kind: 'erc20' }
const SOLANA = { native: '11111111111111111111111111111111', kind: 'token' }
const namespaceOf = (chain: string) => (chain.startsWith('solana:') ? SOLANA : EVM)

// SLIP-44: BNB and POL have numbers of their own; all other EVM coins have the number of Ether.
const COIN_TYPES: Readonly<Record<string, number>> = { 'eip155:56': 714, 'eip155:137': 966 }

function coinTypeOf(chain: string): number {
  return chain.startsWith('solana:') ? 501 : (COIN_TYPES[chain] ?? 60)
}
