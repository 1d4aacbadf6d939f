import type { NetworkConfig, NetworkFile } from '../config.ts'
import { attesterAddresses } from '../swap/attester-set.ts'
import { findRepeated, type Problem } from './shape.ts'

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

export const DASHBOARD_POOL = 2
// API processes and workers listen to notifications on a connection of their own.
const LISTENER = 1
// Commands, `migrate` and a backup, side by side.
const COMMANDS = 3

/** Connections that all processes and commands need together at most. */
export function neededConnections(
  network: Pick<NetworkConfig, 'connections' | 'attesters' | 'nextAttesters'>,
): number {
  const { apiPool, workerPool, attesterPool, apiProcesses, workerProcesses } = network.connections
  const attesters = attesterAddresses(network).length
  const serving = apiProcesses * (apiPool + LISTENER) + workerProcesses * (workerPool + LISTENER)
  return serving + attesters * attesterPool + DASHBOARD_POOL + COMMANDS
}
