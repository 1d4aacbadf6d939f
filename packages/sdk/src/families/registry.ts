import type { ChainsReply } from '@geoswap/wire'
import { evm } from './evm.ts'
import type { Family } from './family.ts'
import { solana } from './solana.ts'

/** The families of chains by the names that signers, quotes and chains of the service have. */
export const families = { evm, solana } as const satisfies Record<string, Family>

/** The reply without chains of families that this version does not know: it could read no address there. */
export function withKnownFamilies(reply: ChainsReply): ChainsReply {
  if (!Array.isArray(reply?.chains)) return reply
  const known: readonly unknown[] = Object.keys(families)
  return { ...reply, chains: reply.chains.filter((chain) => known.includes(chain?.family)) }
}

/** The family that a text is an address of; undefined for anything else. */
export function familyOf(address: string): Family | undefined {
  return Object.values(families).find((family) => family.parseAddress(address) !== undefined)
}
