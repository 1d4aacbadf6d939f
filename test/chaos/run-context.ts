import type { Network } from '@geoswap/devnet'
import type { Pool } from 'pg'
import type { Address } from 'viem'
import type { Random } from '../bench/random.ts'
import type { SolanaWorld } from '../solana-world.ts'
import type { World } from '../world.ts'
import type { Ledger } from './ledger.ts'
import type { ChainName, EvmChainName } from './plan.ts'
import type { ServiceProcesses } from './processes.ts'
import type { FaultProxy } from './proxy.ts'

export type RunContext = {
  network: Network
  world: World
  solana: SolanaWorld
  processes: ServiceProcesses
  /** The EVM chains of the network. */
  chainNames: readonly EvmChainName[]
  proxyOf(place: ChainName): FaultProxy
  blockMsOf(place: EvmChainName): number
  pool: Pool
  /** The addresses of ops that clients know, each on its chain. */
  opAddresses: Map<Address, EvmChainName>
  /** While closed, no client starts. */
  admission: { isClosed: boolean }
  /** Whether nobody waits for an answer any more. */
  isOver(): boolean
  ledger: Ledger
  random: Random
  /** The last fault of each kind that must not overlap with the next of its kind. */
  turns: Map<string, Promise<void>>
}

/** Waits end early when the run ends. */
export type FaultContext = RunContext & { wait(ms: number): Promise<void> }

export const blocksOf = (place: EvmChainName) => `${place} blocks`

export function inTurn(turns: RunContext['turns'], turn: string, work: () => Promise<void>): Promise<void> {
  const done = (turns.get(turn) ?? Promise.resolve()).then(work)
  turns.set(
    turn,
    done.catch(() => {}),
  )
  return done
}
