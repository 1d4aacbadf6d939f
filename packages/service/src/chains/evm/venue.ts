import type { Creation } from '@geoswap/protocol'
import type { Address, PublicClient } from 'viem'
import type { Op } from '../../swap/swap.ts'
import type { Simulation } from '../chain.ts'
import type { PoolCurve } from '../view.ts'
import type { EvmRequest } from './plans.ts'
import type { EvmChainSettings } from './settings.ts'

export type VaultSettings = Pick<EvmChainSettings, 'vault' | 'ringOf'>

/** `unitOf` is one whole token, in its smallest unit. */
export type CurveQuery = { blockNumber: bigint; unitOf(token: Address): Promise<bigint> }

/** A venue on one EVM chain from which the vault buys outputs, each in the transaction that delivers it. */
export type EvmVenue = {
  /** The `venue` of its ops. */
  name: string
  chainId: number
  /** The contract through which the vault buys. */
  adapter: Address
  /** The tokens that it sells to the vault. */
  outputs: readonly Address[]
  planDelivery(client: PublicClient, settings: VaultSettings, op: Op): Promise<EvmRequest>
  /** Simulates the purchase on the newest state, and returns the reason if it would fail. */
  simulateDelivery(
    client: PublicClient,
    settings: VaultSettings & { deliverer: Address },
    op: Op,
  ): Promise<Simulation>
  readCurves(client: PublicClient, query: CurveQuery): Promise<Omit<PoolCurve, 'venue'>[]>
  /** Lists the ways in which the venue on the chain is unfit for purchases. */
  verify(client: PublicClient, vault: Address): Promise<string[]>
  planAdapter(client: PublicClient): Promise<Creation>
}
