import type { NetworkConfig } from '../config.ts'
import type { Logger } from '../observe/logger.ts'
import { activeOf, type ConnectedChain } from './chains.ts'
import { createGasWatch } from './gas-watch.ts'
import { every } from './timing.ts'

const LOOK_MS = 5_000

export type DelivererGas = ReturnType<typeof watchDelivererGas>

/**
 * Which deliverers have gas, as far as was seen. Looks only where several keys deliver: a single one does all the work,
 * with gas or without.
 */
export function watchDelivererGas(network: NetworkConfig, chains: readonly ConnectedChain[], logger: Logger) {
  const shared = chains.filter((chain) => activeOf(chain, 'deliver').length > 1)
  const watched = new Map(
    shared.map((chain) => [chain.config.chainId, { chain, watch: createGasWatch(network, [chain]) }]),
  )
  const looks = [...watched.values()].map(({ chain: { config, gate }, watch }) => {
    const warn = (err: unknown) => logger.warn({ err, chain: config.name }, 'gas of the deliverers not read')
    const look = async () => {
      if (gate.isOpen) await Promise.all(watch.refreshers.map((refresh) => refresh()))
    }
    return every(LOOK_MS, () => look().catch(warn))
  })

  return {
    hasGas: (chainId: number, address: string) =>
      watched.get(chainId)?.watch.hasGas(chainId, address) ?? true,
    stop() {
      for (const { stop } of looks) stop()
    },
  }
}
