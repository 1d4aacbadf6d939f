import { formatUnits } from 'viem'
import { familyOf } from '../chains/families.ts'
import { type Env, UsageError } from '../command.ts'
import type { ChainConfig, NetworkConfig } from '../config.ts'
import { findNetworkNames, nativeOf, type ServedToken, tokensOf } from './served.ts'

export type Amounts = {
  chain(chainId: number): string
  /** The address of the gas coin of a chain, and whether accounts pay rent in it. */
  coin(chainId: number): { address: string; hasRent: boolean } | undefined
  /** The asset and decimals of a token; undefined if one is unknown. */
  token(chainId: number, token: string): { asset: string; decimals: number } | undefined
  /** The chains whose ledger lacks the gas of our keys. */
  gasChains: readonly number[]
  /** Such as `10.5 base:USDC`. In the smallest unit if the token or its decimals are unknown. */
  amount(chainId: number, token: string, amount: string | bigint): string
}

/** Writes amounts with the symbols and decimals of the configuration. */
export function createAmounts({ chains }: Pick<NetworkConfig, 'chains'>): Amounts {
  const find = (id: number) => chains.find(({ chainId }) => chainId === id)
  const nameOf = (id: number) => find(id)?.name ?? String(id)
  return {
    chain: nameOf,
    coin(chainId) {
      const chain = find(chainId)
      return chain && { address: nativeOf(chain), hasRent: !familyOf(chain).traits.paysOnlyFees }
    },
    token(chainId, token) {
      const chain = find(chainId)
      const known = chain && tokensOf(chain).find(({ address }) => address === token)
      const decimals = chain && known && decimalsOf(chain, known)
      return decimals === undefined ? undefined : { asset: known?.asset ?? '', decimals }
    },
    gasChains: chains.filter((chain) => familyOf(chain).traits.paysOnlyFees).map(({ chainId }) => chainId),
    amount(chainId, token, amount) {
      const chain = find(chainId)
      const known = chain && tokensOf(chain).find(({ address }) => address === token)
      if (!chain || !known) return `${amount} ${nameOf(chainId)}:${token}`
      const decimals = decimalsOf(chain, known)
      const text = decimals === undefined ? `${amount} units of` : formatUnits(BigInt(amount), decimals)
      return `${text} ${chain.name}:${known.symbol}`
    },
  }
}

const decimalsOf = (chain: ChainConfig, { decimals, isNative }: ServedToken) =>
  decimals ?? (isNative ? familyOf(chain).nativeToken.decimals : undefined)

/** The amounts of the configured network. */
export const findAmounts = (env: Env): Amounts => createAmounts({ chains: findChains(env) })

/** The configured chains. Commands that only read the database work without a configuration. */
export function findChains(env: Env): NetworkConfig['chains'] {
  try {
    return findNetworkNames(env).chains
  } catch (error) {
    if (error instanceof UsageError) return []
    throw error
  }
}
