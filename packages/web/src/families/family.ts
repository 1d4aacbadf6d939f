import type { ChainEntry, EvmSigner, Signer, TokenEntry } from '@geoswap/sdk'
import type { NodeCall } from '../chain/rpc.ts'
import type { BatchState } from './batch.ts'

export type FamilyName = ChainEntry['family']

/** A transaction whose gas the wallet pays: a refund without the service. */
export type EvmCall = { chainId: number; rpcUrl: string; to: `0x${string}`; data: `0x${string}`; gas: bigint }

export type Wallet = {
  id: string
  name: string
  family: FamilyName
  address: string
  /** Its signer on a chain; undefined if it does not know that chain. */
  signerFor(chainId: number): Signer | undefined
  /** Its signer, if it signs no EIP-7702 authorization for a page and so pays some tokens in another way. */
  plainSigner?: EvmSigner
  /** Sends its own transaction and returns the hash; only wallets of EVM chains have it. */
  send?(call: EvmCall): Promise<string>
  /** Tells where a batch stands that it was given; a wallet that cannot tell says `unknown`. */
  batches?: { stateOf(id: string): Promise<BatchState> }
}

/** An available wallet. Connecting may ask the user. */
export type WalletOffer = Pick<Wallet, 'id' | 'name' | 'family'> & {
  /** A data URL. */
  icon?: string | undefined
  connect(): Promise<Wallet>
  /** The wallet as connected before, without asking the user; undefined if it shares no account. */
  reconnect?(): Promise<Wallet | undefined>
}

/** Wallets bring their own icon. Only images in the text itself are shown: a link would tell who looks. */
export function iconOf(icon: unknown): string | undefined {
  return typeof icon === 'string' && icon.startsWith('data:image/') ? icon : undefined
}

/** Everything in which the page tells one family of chains from another. */
export type Family = {
  words: {
    title: string
    /** Above its list of wallets. */
    walletsFor: string
    /** By which its wallets announce themselves. */
    walletStandard: string
    /** With its article. */
    anAddress: string
    /** Added to the terms of a refund. */
    trust: string
  }
  isAddress(text: string): boolean
  /** Whether this page can send the refund of a locked input. */
  canRefund: boolean
  /** Reports its wallets of this browser, now and later; the result ends that. */
  onWallet(report: (offer: WalletOffer) => void): () => void
  /** Only offered on a local network, where tokens are free. */
  burner: WalletOffer
  /** How a node is asked for the balance of a wallet. */
  balance: {
    toCall(token: TokenEntry, owner: string): NodeCall
    toAmount(token: TokenEntry, reply: unknown): bigint
  }
}
