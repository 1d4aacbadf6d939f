import type { NetworkConfig } from '../config.ts'
import { attesterAddresses } from '../swap/attester-set.ts'

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
