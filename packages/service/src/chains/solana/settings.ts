import type { AttesterSignature } from '@geoswap/protocol'
import type { AttesterSet } from '../../model/attester-set.ts'

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
  /** The attesters whose signatures an outcome needs now. */
  attesters: AttesterSet
  /** Verifies the attesters' signatures, required before anything leaves the intake vault. */
  isAttested(
    outcome: { kind: 'claim' | 'refund'; opHash: string; validUntil?: number },
    signatures: readonly AttesterSignature[],
  ): Promise<boolean>
}
