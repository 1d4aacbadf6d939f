import { type Address, getAddress } from 'viem'
import type { NetworkConfig } from '../config.ts'

/** Whose signatures are taken: two while one attester takes over from the other. */
export function attestersOf({ attester, nextAttester }: NetworkConfig): Address[] {
  return [attester, ...(nextAttester ? [nextAttester] : [])].map((address) => getAddress(address))
}
