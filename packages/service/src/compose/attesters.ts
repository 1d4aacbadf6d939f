import { getAddress } from 'viem'
import { attesterAddresses } from '../config/attester-sets.ts'
import type { NetworkConfig } from '../config.ts'
import type { AttesterSet } from '../model/attester-set.ts'

/** The sets that the escrows may have: two during a change. */
export function attesterSetsOf({ attesters, nextAttesters }: NetworkConfig): AttesterSet[] {
  return [attesters, ...(nextAttesters ? [nextAttesters] : [])].map(toAttesterSet)
}

/** Addresses whose signatures may count. */
export function attestersOf(network: NetworkConfig): string[] {
  return attesterAddresses(network).map((address) => getAddress(address))
}

export function toAttesterSet({ members, threshold }: NetworkConfig['attesters']): AttesterSet {
  return { members: members.map((address) => getAddress(address)), threshold }
}

/** The attesters' keys on Solana chains. */
export function solanaAttestersOf({ chains }: Pick<NetworkConfig, 'chains'>): string[] {
  return chains.flatMap((chain) => (chain.family === 'solana' ? [chain.attester] : []))
}
