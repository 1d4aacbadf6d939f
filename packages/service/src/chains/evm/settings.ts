import type { Address, Hex } from 'viem'
import type { AttesterSet } from '../../swap/attester-set.ts'
import type { Op } from '../../swap/swap.ts'
import type { HeadRules } from './heads.ts'

/** One EVM chain, as configured and verified at boot. */
export type EvmChainSettings = {
  chainId: number
  escrow: Address
  vault: Address
  account: Address
  olderAccounts: readonly Address[]
  /** The escrow's attesters, and those that follow. */
  attesters: readonly AttesterSet[]
  tokens: readonly Address[]
  finality: HeadRules
  tipWei: bigint | undefined
  /** The upper bound of tips; absent to bound them by the base fee. */
  maxTipWei?: bigint
  /** For an OP-stack chain: the contract that prices posting a transaction's bytes to L1, charged beside the gas. */
  l1FeeOracle?: Address
  /** For a chain that charges for posting bytes to L1 within the gas. */
  l1Gas?: 'arbitrum'
  /** The ring of the op's origin, on any chain. */
  ringOf(op: Op): Hex
}
