import type { Address, Hex } from 'viem'
import type { Op } from '../../model/swap.ts'

/** One EVM chain, as configured and verified at boot. */
export type EvmChainSettings = {
  chainId: number
  escrow: Address
  vault: Address
  account: Address
  olderAccounts: readonly Address[]
  tokens: readonly Address[]
  finality: { accept: number; settle: number; hard: number }
  tipWei: bigint | undefined
  /** The ring of the op's origin, whichever chain that is. */
  ringOf(op: Op): Hex
}
