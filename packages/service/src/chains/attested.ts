/** The content of an attestation: that these ops were delivered, or that the input of one goes back. */
export type Attested = {
  chainId: number
  kind: 'claim' | 'refund'
  /** In the signed order. A refund has one. */
  opHashes: readonly string[]
  /** Of a refund, by the chain's clock. */
  validUntil?: number | undefined
}
