/** One Solana chain, as configured and verified at boot. */
export type SolanaChainSettings = {
  chainId: number
  vaults: { intake: string; inventory: string }
  feePayers: { input: string; delivery: string }
  /** Mints that can be swapped, the native coin's address among them. */
  tokens: readonly string[]
  markerKey: Uint8Array
  /** Bounds of the priority price, in millionths of a lamport per compute unit. */
  priorityPrice: { floor: bigint; cap: bigint }
  /** What the attester must have signed before anything leaves the intake vault. */
  isClaimAttested(opHashes: readonly string[], signature: string): Promise<boolean>
  isRefundAttested(opHash: string, attested: { signature: string; validUntil: number }): Promise<boolean>
}
