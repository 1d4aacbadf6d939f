import type { Pool } from 'pg'
import type { Views } from '../lanes/views.ts'
import { createClaimLimits } from '../market/claim-limits.ts'
import { readClaimBooks } from '../store/claim-books.ts'
import { readBooked } from '../store/exposure.ts'
import type { Chains } from './chains.ts'
import { capsOf } from './served-chains.ts'

type Parts = { pool: Pool; chains: Chains; views: Pick<Views, 'of'> }

/**
 * Follows the largest input that a quote may name, from the chains' claim caps and the booked claims and deliveries.
 */
export function followClaimLimits({ pool, chains, views }: Parts) {
  return createClaimLimits({
    claimCapOf(chainId, token) {
      const state = views.of(chainId).part('state')
      return state ? (state.value.claimCaps[token] ?? 'none') : 'unknown'
    },
    secondsOf: (chainId) => views.of(chainId).current()?.head.seconds,
    capsOf: (chainId) => capsOf(chains.of(chainId).config),
    async readBooked() {
      const [books, deliveries] = await Promise.all([readClaimBooks(pool), readBooked(pool)])
      return { books, deliveries }
    },
  })
}
