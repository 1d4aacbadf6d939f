import type { TokenEntry } from '@geoswap/sdk'
import type { NodeCall } from '../chain/rpc.ts'
import type { WalletOffer } from '../wallets/wallet.ts'

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
