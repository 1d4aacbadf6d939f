import type { Signer } from '@geoswap/sdk'

export type Family = 'evm' | 'solana'

/** A transaction that somebody pays gas for: a refund without the service. */
export type EvmCall = { chainId: number; rpcUrl: string; to: `0x${string}`; data: `0x${string}`; gas: bigint }

export type Wallet = {
  id: string
  name: string
  family: Family
  address: string
  signer: Signer
  /** Sends a transaction of its own and returns its hash; only wallets of EVM chains do. */
  send?(call: EvmCall): Promise<string>
}

/** A wallet that could be used: connecting may ask the user. The chain is the one that it is wanted for. */
export type WalletOffer = Pick<Wallet, 'id' | 'name' | 'family'> & {
  connect(chainId?: number): Promise<Wallet>
}
