import type { AttesterSignature } from '@geoswap/protocol'
import type { Pool } from 'pg'
import type { Heads, OriginChain } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import type { SignedCheck } from '../../engine/checks.ts'
import type { Sender } from '../../engine/sender.ts'
import { isolate, mapIsolated } from '../../isolate.ts'
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
import { advanceTogether } from '../../store/swap-moves.ts'
import { findSwaps } from '../../store/swaps.ts'
import { hourOf } from '../../swap/exposure.ts'
import { forEachConcurrently, type Share, throwFirst } from '../../swap/group.ts'
import { isPaid, isRefundDue } from '../../swap/lifecycle.ts'
import type { Swap } from '../../swap/swap.ts'
import { type CollectDeps, collectSignatures } from './collect.ts'

export type RelayDeps = {
  pool: Pool
  origin: OriginChain
  sender: Sender
  moves: Pick<Moves, 'advance'>
  /** This key's part of the work: several keys share a chain. Undefined while others do it. */
  share(): Share | undefined
} & CollectDeps &
  Pick<SignedCheck, 'isRefundable'>

// Claims are not urgent and refunds are rare: neither may take much capacity from locks and deliveries.
const SENT_AT_ONCE = 2

/** Sends attested transactions: claims of delivered swaps into the vault, refunds to wallets. True if any waited. */
export async function relayAttested(deps: RelayDeps, lease: Lease, heads: Heads): Promise<boolean> {
  const share = deps.share()
  if (!share) return false
  const unsent = await findUnsent(deps.pool, { chainId: deps.origin.chainId, ...share })
  const found = await findSwaps(
    deps.pool,
    unsent.flatMap(({ swapIds }) => swapIds),
  )
  const byId = new Map(found.map((swap) => [swap.id, swap]))
  const faults: unknown[] = []
  await forEachConcurrently(unsent, SENT_AT_ONCE, async (attestation) => {
    const swaps = attestation.swapIds.flatMap((id) => byId.get(id) ?? [])
    if (deps.sender.room() === 0) return
    await isolate(faults, { step: attestation.kind, id: attestation.id }, () =>
      relay(deps, lease, heads, { ...attestation, swaps }, faults),
    )
  })
  throwFirst(faults)
  return unsent.length > 0
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
    const isCapped = (await origin.readClaimCap?.(op.inputToken)) !== undefined
    if (isCapped && states.get(op.hash) === 'locked') held.add(id)
  }
  const deferred = sent.filter(({ swapId }) => held.has(swapId)).map(({ attestationId }) => attestationId)
  if (deferred.length > 0) await releaseAttestations(pool, [...new Set(deferred)])
}

type Unsent = Attestation & { swaps: readonly Swap[] }

async function relay(
  deps: RelayDeps,
  lease: Lease,
  heads: Heads,
  { swaps, ...attestation }: Unsent,
  faults: unknown[],
): Promise<void> {
  const open = swaps.filter((swap) => isWaiting(attestation, swap))
  if (open.length === 0) return closeAttestation(deps.pool, attestation.id)
  const isPublic = isRefundPublic(deps, attestation, { open, heads })
  const isLate = attestation.validUntil !== undefined && heads.head.seconds > attestation.validUntil
  if (isLate && !isPublic) return void (await dropAttestation(deps.pool, attestation.id))
  const signatures = isPublic ? [] : await signaturesOf(deps, attestation, swaps)
  if (!signatures) return
  const refundable = await mapIsolated(faults, open, ({ id }) => ({ step: 'relay', id }), deps.isRefundable)
  // The others of its batch are proposed again.
  if (refundable.length < open.length || !refundable.every(({ result }) => result))
    return void (await dropAttestation(deps.pool, attestation.id))
  if (attestation.kind === 'refund' && (await isBlocked(deps, open, isPublic))) return
  if (attestation.kind === 'claim' && !(await hasRoom(deps, open))) return
  const request = await planOf(deps, attestation, { swaps, signatures, isPublic })
  if (!request) return void (await dropAttestation(deps.pool, attestation.id))
  // Byte prices rose so far that no block has room for the batch: smaller ones are proposed now.
  if (swaps.length > 1 && !(await deps.sender.fits(heads, request)))
    return void (await dropAttestation(deps.pool, attestation.id))
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

type Due = { open: readonly Swap[]; heads: Heads }

/** After its deadline anyone may refund an input: no attester is needed then. */
function isRefundPublic({ origin }: RelayDeps, { kind }: Attestation, { open, heads }: Due): boolean {
  return kind === 'refund' && open.every(({ op }) => origin.isRefundPublic(op, heads.head))
}

/**
 * Whether the wallet's account cannot receive the refund, or the escrow refuses it until its deadline: attested refunds
 * are stopped, or above the cap of this hour. The status reports it, and the refund is retried.
 */
async function isBlocked({ moves, origin }: RelayDeps, [swap]: readonly Swap[], isPublic: boolean) {
  if (!swap) return false
  const { inputToken, inputAmount } = swap.op
  const room = isPublic ? undefined : await origin.readRefundRoom?.(inputToken)
  const hasRoom = room === undefined || inputAmount <= room
  if (hasRoom && (await origin.canRefund?.(swap)) !== false) return false
  if (swap.state !== 'refundBlocked') await moves.advance({ swap, event: 'refundRefused' })
  return true
}

/** Whether this hour's cap has room for any of them: the escrow skips the others. All wait if it has none. */
async function hasRoom({ origin }: RelayDeps, open: readonly Swap[]): Promise<boolean> {
  for (const { op } of open) {
    const cap = await origin.readClaimCap?.(op.inputToken)
    if (!cap || op.inputAmount <= cap.left) return true
  }
  return false
}

function isWaiting({ kind }: Attestation, { state }: Swap): boolean {
  return kind === 'claim' ? isPaid(state) : isRefundDue(state)
}

/** Undefined until enough attesters of the op's set have signed. */
async function signaturesOf(deps: RelayDeps, attestation: Attestation, swaps: readonly Swap[]) {
  const [first] = swaps
  if (!first) return undefined
  const { kind, validUntil } = attestation
  const { chainId } = deps.origin
  const attested = { chainId, kind, validUntil, opHashes: swaps.map(({ op }) => op.hash) }
  const set = await deps.origin.readAttesters(first.op.refundDeadline)
  return collectSignatures(deps, attestation, { set, attested })
}

type Signed = { swaps: readonly Swap[]; signatures: readonly AttesterSignature[]; isPublic: boolean }

/** Signatures cover the whole batch in order, including ops that are already closed, which the escrow skips. */
function planOf({ origin }: RelayDeps, { kind, validUntil }: Attestation, signed: Signed) {
  const { swaps, signatures, isPublic } = signed
  if (kind === 'claim') return origin.planClaim(swaps, signatures)
  const [swap] = swaps
  if (!swap || validUntil === undefined) throw new Error('A refund attestation needs one op and an expiry')
  return origin.planRefund(swap, isPublic ? undefined : { signatures, validUntil })
}
