import type { Pool } from 'pg'
import type { Heads, OriginChain } from '../../chains/chain.ts'
import type { Sender } from '../../lanes/sender.ts'
import type { SignedCheck } from '../../lanes/signed-check.ts'
import { hourOf } from '../../model/claim-room.ts'
import { mapConcurrently, type Share } from '../../model/group.ts'
import { isPaid, isRefundDue } from '../../model/lifecycle.ts'
import type { Swap } from '../../model/swap.ts'
import {
  type Attestation,
  bindAttestation,
  closeAttestation,
  dropAttestation,
  findClaimsOfEarlierHours,
  findUnsent,
  releaseAttestations,
} from '../../store/attestations.ts'
import type { Lease } from '../../store/lanes.ts'
import { advanceSwap, advanceTogether, findSwaps } from '../../store/swaps.ts'

export type RelayDeps = {
  pool: Pool
  origin: OriginChain
  sender: Sender
  /** This key's part of the work: several keys share a chain. */
  share: Share
} & Pick<SignedCheck, 'isRefundable'>

// Claims are not urgent and refunds are rare: neither may take much capacity from locks and deliveries.
const SENT_AT_ONCE = 2

/** Sends attested transactions: claims of delivered swaps into the vault, refunds to the wallets. */
export async function relayAttested(deps: RelayDeps, lease: Lease, heads: Heads): Promise<void> {
  const unsent = await findUnsent(deps.pool, { chainId: deps.origin.chainId, ...deps.share })
  await mapConcurrently(unsent, SENT_AT_ONCE, async (attestation) => {
    if (deps.sender.room() > 0) await relay(deps, lease, heads, attestation)
  })
}

/**
 * Releases claims that the cap of an earlier hour deferred: the escrow closed others of their batch, and still holds
 * these. They are sent again in this hour, before the transaction that skipped them is final.
 */
export async function releaseDeferred(deps: Pick<RelayDeps, 'pool' | 'origin'>, heads: Heads): Promise<void> {
  const { pool, origin } = deps
  const sent = await findClaimsOfEarlierHours(pool, {
    chainId: origin.chainId,
    hour: hourOf(heads.settle.seconds),
  })
  if (sent.length === 0) return
  const swaps = await findSwaps(pool, [...new Set(sent.map(({ swapId }) => swapId))])
  const states = await origin.readLocks(
    swaps.map(({ op }) => op),
    heads.settle,
  )
  const held = new Set<string>()
  for (const { id, op } of swaps) {
    const isCapped = (await origin.readClaimCap(op.inputToken)) !== undefined
    if (isCapped && states.get(op.hash) === 'locked') held.add(id)
  }
  const deferred = sent.filter(({ swapId }) => held.has(swapId)).map(({ attestationId }) => attestationId)
  if (deferred.length > 0) await releaseAttestations(pool, [...new Set(deferred)])
}

async function relay(deps: RelayDeps, lease: Lease, heads: Heads, attestation: Attestation): Promise<void> {
  const byId = new Map((await findSwaps(deps.pool, attestation.swapIds)).map((swap) => [swap.id, swap]))
  const swaps = attestation.swapIds.flatMap((id) => byId.get(id) ?? [])
  const open = swaps.filter((swap) => isWaiting(attestation, swap))
  if (open.length === 0) return closeAttestation(deps.pool, attestation.id)
  const isLate = attestation.validUntil !== undefined && heads.head.seconds > attestation.validUntil
  if (isLate) return dropAttestation(deps.pool, attestation.id)
  const refundable = await Promise.all(open.map(deps.isRefundable))
  // The attester signs the others of its batch again.
  if (!refundable.every(Boolean)) return dropAttestation(deps.pool, attestation.id)
  if (attestation.kind === 'refund' && (await isBlocked(deps, open))) return
  if (attestation.kind === 'claim' && !(await hasRoom(deps, open))) return
  const request = await planOf(deps, attestation, swaps)
  if (!request) return dropAttestation(deps.pool, attestation.id)
  // Byte prices rose so far that no block has room for the batch: the attester signs smaller batches now.
  if (swaps.length > 1 && !(await deps.sender.fits(heads, request)))
    return dropAttestation(deps.pool, attestation.id)
  const event = attestation.kind === 'claim' ? 'claimRecorded' : 'refundRecorded'
  await deps.sender.send(lease, heads, {
    role: attestation.kind,
    request,
    swapIds: open.map((swap) => swap.id),
    async record(db, { attemptId }) {
      // The relayer that binds the attestation first sends it; another that read the same row stops here.
      const hour = hourOf(heads.head.seconds)
      if (!(await bindAttestation(db, { id: attestation.id, attemptId, hour }))) return false
      return advanceTogether(db, { swaps: open, event })
    },
  })
}

/** Whether the wallet's account cannot receive the refund: the status reports it, and the refund is retried. */
async function isBlocked({ pool, origin }: RelayDeps, [swap]: readonly Swap[]): Promise<boolean> {
  if (!swap || (await origin.canRefund(swap))) return false
  if (swap.state !== 'refundBlocked') await advanceSwap(pool, { swap, event: 'refundRefused' })
  return true
}

/** Whether this hour's cap has room for any of them: the escrow skips the others. All wait if it has none. */
async function hasRoom({ origin }: RelayDeps, open: readonly Swap[]): Promise<boolean> {
  for (const { op } of open) {
    const cap = await origin.readClaimCap(op.inputToken)
    if (!cap || op.inputAmount <= cap.left) return true
  }
  return false
}

function isWaiting({ kind }: Attestation, { state }: Swap): boolean {
  return kind === 'claim' ? isPaid(state) : isRefundDue(state)
}

/** The signature covers the whole batch in order, including ops that are already closed, which the escrow skips. */
function planOf({ origin }: RelayDeps, { kind, signature, validUntil }: Attestation, swaps: readonly Swap[]) {
  if (kind === 'claim') return origin.planClaim(swaps, signature)
  const [swap] = swaps
  if (!swap || validUntil === undefined) throw new Error('A refund attestation needs one op and an expiry')
  return origin.planRefund(swap, { signature, validUntil })
}
