import { type Address, getAddress } from 'viem'
import type { NetworkConfig } from '../config.ts'

/** Addresses whose attestations are accepted: two during a rotation. */
export function attestersOf({ attester, nextAttester }: NetworkConfig): Address[] {
  return [attester, ...(nextAttester ? [nextAttester] : [])].map((address) => getAddress(address))
}

/** The attesters' keys on Solana chains. */
export function solanaAttestersOf({ chains }: Pick<NetworkConfig, 'chains'>): string[] {
  return chains.flatMap((chain) => (chain.family === 'solana' ? [chain.attester] : []))
}
