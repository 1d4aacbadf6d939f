import type { NetworkConfig } from '../config.ts'

/** Tells whether remote signers hold the keys of all these addresses. An invalid file may contain anything. */
export function createRemoteCheck(network: Partial<NetworkConfig> | null) {
  const remoteSigners = network?.remoteSigners
  const servers = Array.isArray(remoteSigners) ? remoteSigners : []
  const lists: unknown[] = servers.map((server) => server?.addresses)
  const remote = new Set(lists.flat().map(toKey))
  return (...addresses: unknown[]): boolean => {
    const asked = addresses.flat().filter((address) => address !== undefined)
    return asked.length > 0 && asked.every((address) => remote.has(toKey(address)))
  }
}

const toKey = (address: unknown) => String(address).toLowerCase()
