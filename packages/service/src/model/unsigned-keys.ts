import type { ServedChain } from './served-chain.ts'

/** Addresses whose remote signer does not sign now, with the signer's place in the configuration, from 1. */
export type UnsignedKeys = Readonly<Record<string, number>>

/** Names the remote signers that do not sign for keys of a chain, by place and role. */
export function describeUnsigned(
  { name, senders, float }: Pick<ServedChain, 'name' | 'senders' | 'float'>,
  unsigned: UnsignedKeys,
): string[] {
  const roles = Object.entries({ ...senders, float: float ? [float.address] : [] })
  return [...new Set(Object.values(unsigned))].flatMap((place) => {
    const silent = roles.filter(([, addresses]) => addresses.some((address) => unsigned[address] === place))
    if (silent.length === 0) return []
    return [`remote signer ${place} does not sign for ${silent.map(([role]) => role).join(', ')} on ${name}`]
  })
}
