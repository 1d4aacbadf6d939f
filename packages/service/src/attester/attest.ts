import type { Pool } from 'pg'
import type { Chain } from '../chains/chain.ts'
import type { RecoveryChain } from '../chains/recovery.ts'
import { failPoint } from '../fail-point.ts'
import { collectError, throwFirst } from '../model/collect-error.ts'
import { chunksOf, groupBy } from '../model/group.ts'
import type { Op, Swap } from '../model/swap.ts'
import { tallyAttempts } from '../store/attempts.ts'
import {
  dropAttestation,
  findWaiting,
  insertAttestation,
  type Outcome,
  settleOutcomes,
  type WaitingAttestation,
} from '../store/attestations.ts'
import { inTransaction } from '../store/db.ts'
import { findToAttest } from '../store/swaps.ts'

export type AttestDeps = {
  pool: Pool
  /** The attester's own view of each chain, over its own nodes. */
  chainOf(chainId: number): Chain
  /** Whether the chain matches the configuration, and shows no transaction of our keys that is not recorded. */
  isVerified(chainId: number): boolean
  /** Whether the wallet signed the stored terms; for an orphan, whether the input is its own. */
  isSigned(swap: Swap): Promise<boolean>
  signClaims(chainId: number, ops: readonly Op[]): Promise<string>
  signRefund(chainId: number, op: Op, validUntil: number): Promise<string>
  /** Whether the chain accepts this signature now: not after the attester was replaced. */
  isTaken(attestation: WaitingAttestation): Promise<boolean>
  /** All chains on which an op of unknown terms may have been delivered. */
  everywhere: readonly {
    chain: Pick<Chain, 'readHeads'>
    recovery: Pick<RecoveryChain, 'chainId' | 'findDelivery' | 'expiryOf'>
  }[]
  onAttested(kind: Outcome, swapIds: readonly string[]): void
  onRefused(swap: Swap, why: string): void
}

const REFUND_VALID_SECONDS = 3_600

/** Signs outcomes that this attester itself has seen to be final: at most one per op, ever. */
export async function attestAll(deps: AttestDeps): Promise<void> {
  const faults: unknown[] = []
  await dropReplaced(deps, faults)
  await attestClaims(deps, faults)
  await attestRefunds(deps, faults)
  throwFirst(faults)
}

/** Drops unsent attestations of a replaced attester, so that they are signed again. The outcome stays. */
async function dropReplaced(deps: AttestDeps, faults: unknown[]): Promise<void> {
  for (const attestation of await findWaiting(deps.pool)) {
    const isTaken = await collectError(faults, () => deps.isTaken(attestation))
    if (isTaken === false) await dropAttestation(deps.pool, attestation.id)
  }
}

async function attestClaims(deps: AttestDeps, faults: unknown[]): Promise<void> {
  const waiting = await filterSigned(deps, await findToAttest(deps.pool, 'claim'), faults)
  const locked = await filterLocked(deps, waiting, faults)
  const proven = await filterDelivered(deps, locked, faults)
  for (const [chainId, swaps] of groupBy(proven, (swap) => swap.op.originChain)) {
    const chain = deps.chainOf(chainId)
    await collectError(faults, async () => {
      const most = await chain.readMaxClaims(await chain.readHeads())
      for (const some of claimBatches(swaps, most)) await claim(deps, chainId, some)
    })
  }
}

/**
 * Batches swaps by refund deadline, so that urgent claims can be sent alone. Within a batch tokens are grouped, since
 * the escrow pays the vault once per run of a token.
 */
export function claimBatches(swaps: readonly Swap[], maxBatch: number): Swap[][] {
  const byDeadline = (a: Swap, b: Swap) => a.op.refundDeadline - b.op.refundDeadline
  const byToken = (a: Swap, b: Swap) =>
    a.op.inputToken === b.op.inputToken ? byDeadline(a, b) : a.op.inputToken < b.op.inputToken ? -1 : 1
  return chunksOf([...swaps].sort(byDeadline), maxBatch).map((batch) => [...batch].sort(byToken))
}

async function claim(deps: AttestDeps, chainId: number, swaps: readonly Swap[]): Promise<void> {
  failPoint('before outcome')
  // The outcome is recorded before a signature exists, so a crash in between loses nothing.
  const settled = await settleOutcomes(
    deps.pool,
    'claim',
    swaps.map((swap) => swap.op.hash),
  )
  failPoint('after outcome')
  const mine = swaps.filter((swap) => settled.has(swap.op.hash))
  if (mine.length === 0) return
  const signature = await deps.signClaims(
    chainId,
    mine.map(({ op }) => op),
  )
  const swapIds = mine.map((swap) => swap.id)
  await insertAttestation(deps.pool, { chainId, kind: 'claim', swapIds, signature })
  failPoint('after attestation')
  deps.onAttested('claim', swapIds)
}

async function attestRefunds(deps: AttestDeps, faults: unknown[]): Promise<void> {
  const waiting = await filterSigned(deps, await findToAttest(deps.pool, 'refund'), faults)
  for (const swap of await filterLocked(deps, waiting, faults)) {
    await collectError(faults, () => judgeRefund(deps, swap))
  }
}

async function judgeRefund(deps: AttestDeps, swap: Swap): Promise<void> {
  const objection = await (swap.op.isOrphan
    ? objectionToOrphan(deps, swap.op)
    : objectionToRefund(deps, swap))
  if (objection) deps.onRefused(swap, objection)
  else await refund(deps, swap)
}

async function refund(deps: AttestDeps, swap: Swap): Promise<void> {
  const { originChain, hash } = swap.op
  failPoint('before outcome')
  const settled = await settleOutcomes(deps.pool, 'refund', [hash])
  failPoint('after outcome')
  if (!settled.has(hash)) return deps.onRefused(swap, 'a claim was attested before')
  const { head } = await deps.chainOf(originChain).readHeads()
  const validUntil = head.seconds + REFUND_VALID_SECONDS
  const signature = await deps.signRefund(originChain, swap.op, validUntil)
  await inTransaction(deps.pool, (db) =>
    insertAttestation(db, {
      chainId: originChain,
      kind: 'refund',
      swapIds: [swap.id],
      validUntil,
      signature,
    }),
  )
  failPoint('after attestation')
  deps.onAttested('refund', [swap.id])
}

/**
 * The reason why the input may not be refunded yet, if any. At a final block of this attester's own nodes the vault
 * must show no delivery, and every signed one must be consumed or too late. An unreachable destination is tolerated
 * only if the recorded attempts show that no delivery was ever signed.
 */
async function objectionToRefund(deps: AttestDeps, { id, op }: Swap): Promise<string | undefined> {
  // Without verification, the recorded attempts may be incomplete.
  if (!deps.isVerified(op.destinationChain))
    throw new Error(`Chain ${op.destinationChain} was not verified yet`)
  const tallyAt = async (block: bigint) =>
    (await tallyAttempts(deps.pool, 'deliver', [id], block)).get(id) ?? { total: 0, open: 0 }
  const seen = await readDestination(deps, op).catch(async (error: unknown) => {
    if (op.isLogLost || (await tallyAt(0n)).total > 0) throw error
    return undefined
  })
  if (!seen) return undefined
  if (!seen.isUndelivered) return 'the vault shows a delivery'
  // An attempt consumed at a block that these nodes have not reached counts as open: it may be a delivery there.
  const isSettled = seen.isOver || (!op.isLogLost && (await tallyAt(seen.block)).open === 0)
  return isSettled ? undefined : 'a signed delivery may still land'
}

// Clocks of chains differ by less: no delivery precedes the op by more than this.
const SKEW_SECONDS = 3_600

/**
 * The destination of an orphan and its fill deadline are unknown, except that the latter is before its refund deadline.
 * So no chain may show a delivery at a final block of this attester's own nodes, past that deadline if deliveries end
 * by deadline. On other chains a delivery lives for a minute, and the rebuild took longer without a worker.
 */
async function objectionToOrphan(deps: AttestDeps, op: Op): Promise<string | undefined> {
  for (const { chain, recovery } of deps.everywhere) {
    const { hard } = await chain.readHeads()
    const isOver = recovery.expiryOf(hard) !== undefined || hard.seconds > op.refundDeadline
    if (!isOver) return 'a delivery is still possible on some chain'
    const made = await recovery.findDelivery(op.deliveryHash, op.opDeadline - SKEW_SECONDS, hard)
    if (made) return `chain ${recovery.chainId} shows a delivery`
  }
  return undefined
}

async function readDestination(deps: AttestDeps, op: Op) {
  const destination = deps.chainOf(op.destinationChain)
  const { hard } = await destination.readHeads()
  const undelivered = await destination.readUndelivered([op], hard)
  const isOver = destination.isDeliveryOver(op, hard)
  return { block: hard.number, isUndelivered: undelivered.has(op.hash), isOver }
}

async function filterSigned(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const judged = await Promise.all(swaps.map((swap) => collectError(faults, () => deps.isSigned(swap))))
  for (const [index, swap] of swaps.entries())
    if (judged[index] === false) deps.onRefused(swap, 'the stored terms differ from the signed ones')
  return swaps.filter((_, index) => judged[index])
}

async function filterLocked(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const byChain = [...groupBy(swaps, (swap) => swap.op.originChain)]
  const locked = await Promise.all(
    byChain.map(([chainId, group]) =>
      collectError(faults, () => lockedOf(deps.chainOf(chainId), group, faults)),
    ),
  )
  return locked.flatMap((group) => group ?? [])
}

async function lockedOf(chain: Chain, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const { hard } = await chain.readHeads()
  const states = await chain.readLocks(
    swaps.map(({ op }) => op),
    hard,
    faults,
  )
  return swaps.filter(({ op }) => states.get(op.hash) === 'locked')
}

/** Keeps swaps whose delivery, of at least the signed minimum, is in a final block. */
async function filterDelivered(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const byChain = [...groupBy(swaps, (swap) => swap.op.destinationChain)]
  const delivered = await Promise.all(
    byChain.map(([chainId, group]) =>
      collectError(faults, () => deliveredOf(deps.chainOf(chainId), group, faults)),
    ),
  )
  return delivered.flatMap((group) => group ?? [])
}

async function deliveredOf(chain: Chain, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const heads = await chain.readHeads()
  const named = swaps.map(({ op, deliveryTxHash: txHash }) => ({ op, txHash }))
  const paid = await chain.findDeliveries(named, heads, faults)
  return swaps.filter(({ op }) => {
    const seen = paid.get(op.hash)
    return seen !== undefined && seen.amount >= op.minOutput && seen.block <= heads.hard.number
  })
}
