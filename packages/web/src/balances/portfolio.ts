import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { usdOf } from '../amounts.ts'
import type { Catalog } from '../service/catalog.ts'

/** The balances of a chain by token address, or why they are not known. */
export type ChainBalances = ReadonlyMap<string, bigint> | 'reading' | 'noNode' | 'noWallet' | 'silent'

export type Position = { token: TokenEntry; amount: bigint; usd: bigint | undefined }
export type ChainPositions = { chain: ChainEntry; positions: readonly Position[]; note: string }

const NOTES = {
  reading: 'Reading…',
  noNode: 'The page has no node of this chain.',
  noWallet: 'No wallet is connected for this chain.',
  silent: 'The node of this chain does not answer. It is asked again.',
} as const

/** The holdings by chain, the most valuable first. */
export function portfolioOf(
  { chains, tokens }: Catalog,
  balances: Readonly<Record<number, ChainBalances>>,
): ChainPositions[] {
  return chains.map((chain) => {
    const read = balances[chain.chainId] ?? 'reading'
    if (typeof read === 'string') return { chain, positions: [], note: NOTES[read] }
    const positions = tokens
      .filter(({ chainId, address }) => chainId === chain.chainId && (read.get(address) ?? 0n) > 0n)
      .map((token) => toPosition(token, read.get(token.address) ?? 0n))
      .toSorted(byValue)
    return { chain, positions, note: positions.length === 0 ? 'Nothing here.' : '' }
  })
}

function toPosition(token: TokenEntry, amount: bigint): Position {
  return { token, amount, usd: usdOf(amount, token) }
}

function byValue(a: Position, b: Position): number {
  const difference = (b.usd ?? 0n) - (a.usd ?? 0n)
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** The value of everything with a known price. */
export function totalOf(portfolio: readonly ChainPositions[]): bigint {
  return portfolio.flatMap(({ positions }) => positions).reduce((sum, { usd }) => sum + (usd ?? 0n), 0n)
}
