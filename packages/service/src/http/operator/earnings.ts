import type { OperatorEarnings } from '@geoswap/wire'
import { type Books, type GasDay, rentOf } from '../../model/books.ts'
import type { Catalog } from '../../model/catalog.ts'

/** The earnings and costs of swaps. Chains that are no longer served are left out. */
export function toEarnings(
  { routes, gas }: Books & { gas: readonly GasDay[] },
  catalog: Catalog,
): OperatorEarnings {
  return {
    routes: routes
      .filter(({ originChain, destinationChain }) =>
        [originChain, destinationChain].every((chainId) => catalog.chains.has(chainId)),
      )
      .map(({ accounts: _, volumeCents, earnedE6, networkE6, profitE6, ...route }) => ({
        ...route,
        volumeCents: volumeCents.toString(),
        earned: earnedE6.toString(),
        network: networkE6.toString(),
        profit: profitE6.toString(),
      })),
    gas: gas.flatMap(({ day, chainId, amount, usdE6 }) => {
      const coin = catalog.chains.get(chainId)?.native
      if (!coin) return []
      const { symbol, decimals } = coin
      const rent = rentOf(routes, { day, chainId, amount }).toString()
      return [{ day, chainId, symbol, decimals, amount: amount.toString(), usd: usdE6.toString(), rent }]
    }),
  }
}
