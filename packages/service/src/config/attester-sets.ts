import type { NetworkConfig } from '../config.ts'
import { findRepeated } from './repeated.ts'
import type { Problem } from './shape.ts'

type Sets = Pick<NetworkConfig, 'attesters' | 'nextAttesters'>

/** The addresses of all attesters, each once: during a change, those of both sets. */
export function attesterAddresses({ attesters, nextAttesters }: Sets): string[] {
  const all = [...attesters.members, ...(nextAttesters?.members ?? [])]
  return [...new Map(all.map((address) => [address.toLowerCase(), address])).values()]
}

/** Finds sets that no escrow would accept. */
export function findAttesterProblems({ attesters, nextAttesters }: Sets): Problem[] {
  return Object.entries({ attesters, nextAttesters }).flatMap(([name, set]) => {
    if (!set) return []
    const { members, threshold } = set
    const repeated = findRepeated(
      members,
      (address) => address.toLowerCase(),
      (index) => `/${name}/members/${index}`,
      (address) => address,
    )
    if (threshold <= members.length) return repeated
    const message = `must not be above the number of members (${members.length})`
    return [...repeated, { path: `/${name}/threshold`, message }]
  })
}
