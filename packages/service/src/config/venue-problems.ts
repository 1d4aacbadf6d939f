import type { NetworkConfig } from '../config.ts'
import { kindOf, type VenueConfig } from '../venues/registry.ts'
import { findRepeated } from './repeated.ts'
import type { Problem } from './shape.ts'

/** Finds venues with unknown tokens or chains, and repeated venues. */
export function findVenueProblems(network: NetworkConfig): Problem[] {
  const { venues = [] } = network
  const titleOf = (venue: VenueConfig) => kindOf(venue).titleOf(venue)
  return [
    ...findRepeated(venues, titleOf, (index) => `/venues/${index}`),
    ...venues.flatMap((venue, index) => {
      const problems = kindOf(venue).findProblems(venue, network)
      return problems.map(({ path, message }) => ({ path: `/venues/${index}${path}`, message }))
    }),
  ]
}
