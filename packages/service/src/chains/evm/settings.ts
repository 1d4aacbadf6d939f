import type { Address, Hex } from 'viem'
import type { Op } from '../../model/swap.ts'
import type { HeadRules } from './heads.ts'

/** One EVM chain, as configured and verified at boot. */
export type EvmChainSettings = {
  chainId: number
  escrow: Address
  vault: Address
  account: Address
  olderAccounts: readonly Address[]
  tokens: readonly Address[]
  finality: HeadRules
  tipWei: bigint | undefined
  /** No node's tip counts beyond this; absent for a bound by the base fee. */
  maxTipWei?: bigint
  /** Of an OP-stack chain: says what posting a transaction's bytes to L1 costs, beside the gas. */
  l1FeeOracle?: Address
  /** Of a chain that charges for posting bytes to L1 within the gas. */
  l1Gas?: 'arbitrum'
  /** What the vault may buy, and where. */
  uniswap?: { adapter: Address; quoter: Address; pools: readonly UniswapPool[] }
  /** The ring of the op's origin, whichever chain that is. */
  ringOf(op: Op): Hex
}

/** Sells `buy` for `sell`; the fee is in millionths. */
export type UniswapPool = { sell: Address; buy: Address; fee: number }
