import { createMemory } from '../async/cache.ts'
import { type CustodyOf, isWellFormed } from '../swap/op-terms.ts'
import type { Op, Swap } from '../swap/swap.ts'
import type { OriginChain } from './chain.ts'

/** The content of an attestation: that these ops were delivered, or that the input of one goes back. */
export type Attested = {
  chainId: number
  kind: 'claim' | 'refund'
  /** In the signed order. A refund has one. */
  opHashes: readonly string[]
  /** Of a refund, by the chain's clock. */
  validUntil?: number | undefined
}

type SignedDeps = { custodyOf: CustodyOf; originOf(chainId: number): Pick<OriginChain, 'isSigned'> }

// See docs/decisions.md#the-signed-terms-are-paid.
/** Whether the wallet signed the stored terms. Nothing else is locked or paid. */
export async function isSigned({ custodyOf, originOf }: SignedDeps, swap: Swap): Promise<boolean> {
  return isVerified(custodyOf, swap.op) && originOf(swap.op.originChain).isSigned(swap)
}

/** The same check for a refund. Of an orphan only the input is known, and its chain shows the owner. */
export async function isRefundable(deps: SignedDeps, swap: Swap): Promise<boolean> {
  const { isOrphan, originChain } = swap.op
  return isOrphan ? deps.originOf(originChain).isSigned(swap) : isSigned(deps, swap)
}

const memories = new WeakMap<CustodyOf, (key: string, compute: () => boolean) => boolean>()

/**
 * Computes the hashes of the same terms once: they are verified before each step of a swap. Other terms have another
 * key, even if only one field changed.
 */
function isVerified(custodyOf: CustodyOf, op: Op): boolean {
  const remember = memories.get(custodyOf) ?? createMemory<boolean>()
  memories.set(custodyOf, remember)
  const key = JSON.stringify(op, (_, field) => (typeof field === 'bigint' ? `${field}n` : field))
  return remember(key, () => isWellFormed(custodyOf, op))
}
