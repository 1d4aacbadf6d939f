import type { Address, PublicClient } from 'viem'
import type { Block, Chain, InputBuilder } from '../chains/chain.ts'
import type { CustodyChain } from '../chains/custody.ts'
import type { Findings } from '../chains/findings.ts'
import type { Gate } from '../chains/gate.ts'
import type { RecoveryChain } from '../chains/recovery.ts'
import type { Payout } from '../chains/solana/attested.ts'
import type { ViewReader } from '../chains/view.ts'
import type { ChainConfig } from '../config.ts'
import type { HeadSubscription } from '../engine/chain-follower.ts'
import type { RecipientView } from '../stages/quote/quote.ts'
import type { Order } from '../stages/quote/request.ts'
import type { Token } from '../swap/catalog.ts'
import type { Senders } from '../swap/served-chain.ts'

export type EvmContracts = { account: Address; escrow: Address; vault: Address }
export type EvmParts = { client: PublicClient; contracts: EvmContracts }

export type SolanaOrigin = {
  builder: InputBuilder
  inspectRecipient(order: Order): Promise<RecipientView>
  /** The least native balance of an account. */
  readLeastBalance(): Promise<bigint>
  /** For how long after its deadline the marker of a delivery cannot be closed. */
  sweepMarginSeconds: number
  /** The deliveries among these whose marker can be closed, which returns its rent. */
  findSweepable(deliveryHashes: readonly string[], at: Block): Promise<string[]>
  /** Signs a claim or refund as the attester; only in its process. */
  attest(payout: Payout): Promise<string>
  /** The attester, if it signed this. */
  recoverAttester(text: string): Promise<string | undefined>
}

/** A chain of any family, with the parts that the processes need. */
export type ConnectedChain = {
  config: ChainConfig
  chain: Chain
  /** For the ledger. */
  custody: CustodyChain
  /** For rebuilding the database. */
  recovery: RecoveryChain
  /** For the one process that follows the chain. */
  view: ViewReader
  /** Subscribes to new heads; undefined without a configured WebSocket. */
  listenToHeads?(listener: { onHead(): void; onFault(error: unknown): void }): HeadSubscription | undefined
  senders: Senders
  /** Senders that get no new work. */
  retiring: readonly string[]
  maxAmount: bigint
  nativeToken: Pick<Token, 'address' | 'decimals'>
  ownAddresses: readonly string[]
  /** Lists the differences between the chain with its nodes and the configuration. */
  verify(): Promise<Findings>
  loadTokens(): Promise<Token[]>
  /** A sender's native balance, in the smallest unit. */
  readGasBalance(address: string): Promise<bigint>
  /** Any owner's balance of a token or of the native coin. */
  readTokenBalance(owner: string, token: string): Promise<bigint>
  evm?: EvmParts
  solana?: SolanaOrigin
  /** Closed until the chain was verified against the configuration. */
  gate: Gate
}

/** A chain before it has a gate. */
export type Ungated = Omit<ConnectedChain, 'gate'>
