import type { OriginMethod } from '@geoswap/wire'
import type { Catalog, CatalogChain, LegCosts, Token } from './catalog.ts'

/** How this token can come in, the cheapest way first. Undefined on a chain where wallets sign transfers. */
export function methodsOf({ family, native }: CatalogChain, token: Token): OriginMethod[] | undefined {
  if (family !== 'evm') return undefined
  const signed = token === native ? [] : (token.signing?.methods ?? [])
  return ['delegation', ...signed, 'deposit']
}

type Route = { origin: CatalogChain; input: Token; output: Token }

/** The ways of one route. The price of a deposit holds for a quarter of an hour, so both sides have to be pegged. */
export function methodsFor(catalog: Catalog, { origin, input, output }: Route): OriginMethod[] {
  const isPegged = arePegged(catalog, input, output)
  return (methodsOf(origin, input) ?? []).filter((method) => method !== 'deposit' || isPegged)
}

/** Whether both tokens are of one asset, or both follow the dollar. */
export function arePegged({ assets }: Catalog, input: Token, output: Token): boolean {
  const isStable = ({ asset }: Token) => assets.get(asset)?.usdStable === true
  return input.asset === output.asset || (isStable(input) && isStable(output))
}

/** The code of a wallet, as far as it decides how the wallet can pay. */
export type WalletCode = 'none' | 'ours' | 'older' | 'foreign' | 'contract' | 'unneeded'

/** Whether code that is not ours answers for the wallet. */
export const isOthers = (code: WalletCode): boolean => code === 'foreign' || code === 'contract'

/**
 * Whether a wallet with this code can pay by a method. Code of others is never replaced, so there is no delegation.
 * There is no permit either: a token may ask that code about the signature, and a permit has only that of a key.
 */
export function canPayBy(method: OriginMethod, code: WalletCode): boolean {
  return !isOthers(code) || method === 'authorization' || method === 'deposit'
}

/** The cost of taking an input, in the native coin. `isDelegated`: the wallet needs no authorization for our code. */
export function originCostOf(
  costs: LegCosts,
  method: OriginMethod,
  isDelegated: boolean,
): bigint | undefined {
  if (method !== 'delegation') return costs.ways?.[method]
  return isDelegated ? costs.lock : costs.firstLock
}
