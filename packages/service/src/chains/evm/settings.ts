import type { Address } from 'viem'

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
  /** Where an op's input is held, on whichever chain it is. */
  escrowOf(chainId: number): Address
}
