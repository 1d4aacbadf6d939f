import { askEach, families, familyOfAddress } from '../chains/families.ts'
import type { NetworkFile } from '../config.ts'
import { findRepeated, type Problem } from './shape.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Finds remote signers that nobody would ask, that anyone could read, or that join worker and attester. */
export function findSignerProblems(network: NetworkFile): Problem[] {
  const { remoteSigners = [], chains } = network
  const attesters = askEach(chains, ({ keys }, own) => keys.ofAttesters(network, own)).map(toKey)
  const known = new Set([...attesters, ...workersOf(network).map(toKey)])
  const each = remoteSigners.flatMap(({ url, addresses }, index) => {
    const at = (field: string) => `/remoteSigners/${index}/${field}`
    const strangers = addresses.flatMap((address, position) =>
      known.has(toKey(address))
        ? []
        : [
            {
              path: at(`addresses/${position}`),
              message: `${address} is no address that worker or attester sign for`,
            },
          ],
    )
    return [...findUnsafe(url, at('url')), ...strangers]
  })
  const all = remoteSigners.flatMap(({ addresses }, index) =>
    addresses.map((address, position) => ({
      address,
      path: `/remoteSigners/${index}/addresses/${position}`,
    })),
  )
  const repeated = findRepeated(
    all,
    ({ address }) => toKey(address),
    (index) => all[index]?.path ?? '/remoteSigners',
  )
  return [...each, ...repeated, ...findJoined(remoteSigners, attesters)]
}

/** Addresses that a worker signs for, of those that a remote signer may have. */
function workersOf(network: NetworkFile): string[] {
  const floats = families.flatMap(({ name }) => network.gasFloat?.[name] ?? [])
  return [...askEach(network.chains, ({ keys }, own) => keys.ofWorker(network, own)), ...floats]
}

/** Signed bytes must not be readable before they are recorded, and a signature must come from the signer. */
export function findUnsafe(url: string, path: string): Problem[] {
  if (!URL.canParse(url)) return [{ path, message: 'is not a URL: its host or port is invalid' }]
  const { protocol, hostname, username, password } = new URL(url)
  if (username || password)
    return [{ path, message: 'has a password: use a client certificate, which stays out of this file' }]
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return []
  return [{ path, message: 'must be https, unless it is this machine' }]
}

type RemoteSigners = NonNullable<NetworkFile['remoteSigners']>

/** A server signs for any client it lets in: one for both would let the worker sign attestations. */
function findJoined(remoteSigners: RemoteSigners, attesters: readonly string[]): Problem[] {
  const hostOf = ({ url }: RemoteSigners[number]) => (URL.canParse(url) ? new URL(url).host : url)
  const isOf = (isAttester: boolean) => (signer: RemoteSigners[number]) =>
    signer.addresses.some((address) => attesters.includes(toKey(address)) === isAttester)
  const ofWorkers = new Set(remoteSigners.filter(isOf(false)).map(hostOf))
  return remoteSigners.flatMap((signer, index) =>
    isOf(true)(signer) && ofWorkers.has(hostOf(signer))
      ? [
          {
            path: `/remoteSigners/${index}/url`,
            message: 'the attester needs a signer of its own: with this one the worker could sign for it',
          },
        ]
      : [],
  )
}

/** Tells whether remote signers hold the keys of all these addresses. An invalid file may contain anything. */
export function createRemoteCheck(network: Partial<NetworkFile> | null) {
  const remoteSigners = network?.remoteSigners
  const servers = Array.isArray(remoteSigners) ? remoteSigners : []
  const lists: unknown[] = servers.map((server) => server?.addresses)
  const remote = new Set(lists.flat().map(toKey))
  return (...addresses: unknown[]): boolean => {
    const asked = addresses.flat().filter((address) => address !== undefined)
    return asked.length > 0 && asked.every((address) => remote.has(toKey(address)))
  }
}

function toKey(address: unknown): string {
  const text = String(address)
  return familyOfAddress(text)?.addresses.keyOf(text) ?? text
}

type Sets = Pick<NetworkFile, 'attesters' | 'nextAttesters'>

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
