import type { ChainEntry } from '@geoswap/sdk'

/** A colour, and letters or a drawing in a square of 24 units. */
export type Mark = { color: string; letters?: string; path?: string }

const ETHER = {
  color: '#5468d4',
  path: 'M12 3 6.6 12 12 15.2 17.4 12zM12 21l-5.4-7.6L12 16.6l5.4-3.2z',
}
const SOL = {
  color: '#5b2fc9',
  path: 'M8.2 7h9.3l-1.7 2.2H6.5zM6.5 10.9h9.3l1.7 2.2H8.2zM8.2 14.8h9.3L15.8 17H6.5z',
}

// By symbol, and by the chain ids of public networks.
const TOKENS: Readonly<Record<string, Mark>> = {
  ETH: ETHER,
  WETH: ETHER,
  SOL,
  WSOL: SOL,
  USDC: { color: '#1f63b5', letters: '$' },
  USDT: { color: '#13785a', letters: '₮' },
  BTC: { color: '#a85d00', letters: '₿' },
  WBTC: { color: '#a85d00', letters: '₿' },
}
const CHAINS: Readonly<Record<number, Mark>> = {
  1: ETHER,
  10: { color: '#c8102e', letters: 'OP' },
  56: { color: '#8a6500', letters: 'B' },
  137: { color: '#6c35d6', letters: 'P' },
  8453: { color: '#0a4fe0', letters: 'B' },
  42161: { color: '#1b4a73', letters: 'A' },
  792703809: SOL,
  792703810: SOL,
}

export function tokenMark(symbol: string): Mark {
  return TOKENS[symbol.toUpperCase()] ?? lettersOf(symbol)
}

export function chainMark({ chainId, name, native }: Pick<ChainEntry, 'chainId' | 'name' | 'native'>): Mark {
  // A coin that several chains share tells none of them apart.
  return CHAINS[chainId] ?? (native.symbol === 'SOL' ? SOL : lettersOf(name))
}

/** The first letters, in a colour that depends on the name alone. */
export function lettersOf(name: string): Mark {
  const hue = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  const letters = [...name.replace(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('').toUpperCase()
  return { color: `hsl(${hue} 45% 32%)`, letters: letters || '?' }
}

/** The mark of a token, chain or wallet, beside its name. */
export function Avatar({ mark }: { mark: Mark }) {
  return (
    <svg class="avatar" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="12" fill={mark.color} />
      {mark.path ? (
        <path d={mark.path} fill="#fff" />
      ) : (
        <text x="12" y="12" fill="#fff" text-anchor="middle" dominant-baseline="central">
          {mark.letters}
        </text>
      )}
    </svg>
  )
}
