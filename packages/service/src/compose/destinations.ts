import type { Chain } from '../chains/chain.ts'
import { simulateOnce } from '../flow/deliver/simulate-once.ts'
import type { ViewOfChain } from '../lanes/views.ts'
import type { Chains } from './chains.ts'

export type Destinations = { of(chainId: number): Chain }

/** One for each chain: the lanes of locks and of deliveries share its simulations. */
export function createDestinations(
  chains: Chains,
  followers: ReadonlyMap<number, ViewOfChain>,
): Destinations {
  const destinations = new Map(
    chains.all.map(({ chain, evm, nativeToken, config: { chainId } }) => {
      const holdings = () => followers.get(chainId)?.part('state')?.value.holdings
      const holdingOf = (held: string) => holdings()?.find(({ token }) => token === held)?.amount
      return [chainId, simulateOnce(chain, { holdingOf, strangeToken: evm && nativeToken.address })]
    }),
  )
  return {
    of(chainId) {
      const destination = destinations.get(chainId)
      if (!destination) throw new Error(`Chain ${chainId} is not configured`)
      return destination
    },
  }
}
