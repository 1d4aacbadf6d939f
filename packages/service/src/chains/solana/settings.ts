/** One Solana chain, as configured and verified at boot. */
export type SolanaChainSettings = {
  chainId: number
  vaults: { intake: string; inventory: string }
  feePayers: { input: string; delivery: string }
  /** Mints that can be swapped, including the native coin's address. */
  tokens: readonly string[]
  markerKey: Uint8Array
  /** Bounds of the priority price, in millionths of a lamport per compute unit. */
  priorityPrice: { floor: bigint; cap: bigint }
  /** Verifies the attester's signature, required before anything leaves the intake vault. */
  isClaimAttested(opHashes: readonly string[], signature: string): Promise<boolean>
  isRefundAttested(opHash: string, attested: { signature: string; validUntil: number }): Promise<boolean>
}
