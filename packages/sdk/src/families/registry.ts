import { evm } from './evm.ts'
import type { Family } from './family.ts'
import { solana } from './solana.ts'

/** The families of chains by the names that signers, quotes and chains of the service have. */
export const families = { evm, solana } as const satisfies Record<string, Family>

/** The family that a text is an address of; undefined for anything else. */
export function familyOf(address: string): Family | undefined {
  return Object.values(families).find((family) => family.parseAddress(address) !== undefined)
}
