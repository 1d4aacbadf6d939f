/** One Solana chain, as configured and verified at boot. */
export type SolanaChainSettings = {
  chainId: number
  /** The escrow program. */
  program: string
  /** The authority of the accounts that pay deliveries and receive claims. */
  vault: string
  /** Signs claims, and refunds before their deadline. */
  attester: string
  feePayers: { input: string; delivery: string }
  /** Mints that can be swapped, including the native coin's address. */
  tokens: readonly string[]
  /** Bounds of the priority price, in millionths of a lamport per compute unit. */
  priorityPrice: { floor: bigint; cap: bigint }
}

export function ownFeePayers({ feePayers }: Pick<SolanaChainSettings, 'feePayers'>): string[] {
  return Object.values(feePayers)
}

/** All addresses that act for the service. */
export function ownAddresses({ vault, attester, feePayers }: Omit<SolanaChainSettings, 'tokens'>): string[] {
  return [vault, attester, ...Object.values(feePayers)]
}
