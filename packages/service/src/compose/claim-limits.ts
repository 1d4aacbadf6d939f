import type { Pool } from 'pg'
import { createClaimCaps } from '../market/claim-caps.ts'
import { createClaimLimits } from '../market/claim-limits.ts'
import type { Catalog } from '../model/catalog.ts'
import { readClaimBooks } from '../store/claim-books.ts'
import { readBooked } from '../store/exposure.ts'
import { capsOf } from './caps.ts'
import type { Chains } from './chains.ts'

type Parts = {
  pool: Pool
  chains: Chains
  catalog: Catalog
  secondsOf(chainId: number): number | undefined
}

/** The largest input that a quote may name, kept fresh from the chains' caps and from what is booked of them. */
export function followClaimLimits({ pool, chains, catalog, secondsOf }: Parts) {
  const caps = createClaimCaps({
    tokens: [...catalog.chains.values()].flatMap(({ tokens }) => tokens),
    readCap: async ({ chainId, address }) => (await chains.of(chainId).chain.readClaimCap(address))?.perHour,
    now: Date.now,
  })
  const limits = createClaimLimits({
    claimCapOf: caps.claimCapOf,
    secondsOf,
    unclaimedCapCents: (chainId) => capsOf(chains.of(chainId).config).unclaimedCents,
    async readBooked() {
      const [books, booked] = await Promise.all([readClaimBooks(pool), readBooked(pool)])
      const unclaimed = [...booked].map(([chainId, { unclaimedCents }]) => [chainId, unclaimedCents] as const)
      return { books, unclaimed: new Map(unclaimed) }
    },
  })
  return { mostInput: limits.mostInput, refreshers: [limits.refresh, ...caps.refreshers] }
}
