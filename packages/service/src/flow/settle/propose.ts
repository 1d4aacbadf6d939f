import type { Pool } from 'pg'
import type { Heads, OriginChain } from '../../chains/chain.ts'
import type { SignedCheck } from '../../lanes/signed-check.ts'
import { keyOfSet } from '../../model/attester-set.ts'
import { groupBy } from '../../model/group.ts'
import type { Swap } from '../../model/swap.ts'
import {
  type DisputedClaim,
  dropAttestation,
  findDisputed,
  insertAttestation,
} from '../../store/attestations.ts'
import { inTransaction } from '../../store/db.ts'
import { findSwaps, findToPropose } from '../../store/swaps.ts'
import { claimBatches } from './claim-batches.ts'
import { type CollectDeps, collectSignatures } from './collect.ts'

export type ProposeDeps = {
  pool: Pool
  origin: Pick<OriginChain, 'chainId' | 'readMaxClaims' | 'readAttesters'>
} & CollectDeps &
  Pick<SignedCheck, 'isRefundable'>

const REFUND_VALID_SECONDS = 3_600

/**
 * Proposes outcomes for the attesters to sign. A claim has its ops fixed here, once, so that all attesters sign the
 * same batch. Every attester checks all of it on its own nodes.
 */
export async function proposeOutcomes(deps: ProposeDeps, heads: Heads): Promise<void> {
  await splitDisputed(deps)
  await proposeClaims(deps, heads)
  await proposeRefunds(deps, heads)
}

async function proposeClaims(deps: ProposeDeps, heads: Heads): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  const swaps = await filterSigned(deps, await findToPropose(pool, { kind: 'claim', chainId }))
  if (swaps.length === 0) return
  const most = await origin.readMaxClaims(heads)
  for (const group of await groupBySet(deps, swaps)) {
    for (const batch of claimBatches(group, most))
      await insertAttestation(pool, { chainId, kind: 'claim', swapIds: batch.map(({ id }) => id) })
  }
}

/** The escrow takes one set's signatures per batch. */
async function groupBySet({ origin }: ProposeDeps, swaps: readonly Swap[]): Promise<Swap[][]> {
  const keyed = await Promise.all(
    swaps.map(async (swap) => ({
      swap,
      key: keyOfSet(await origin.readAttesters(swap.op.refundDeadline)),
    })),
  )
  return [...groupBy(keyed, ({ key }) => key).values()].map((group) => group.map(({ swap }) => swap))
}

async function proposeRefunds(deps: ProposeDeps, heads: Heads): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  const validUntil = heads.head.seconds + REFUND_VALID_SECONDS
  for (const { id } of await filterSigned(deps, await findToPropose(pool, { kind: 'refund', chainId })))
    await insertAttestation(pool, { chainId, kind: 'refund', swapIds: [id], validUntil })
}

async function filterSigned({ isRefundable }: ProposeDeps, swaps: readonly Swap[]): Promise<Swap[]> {
  const judged = await Promise.all(swaps.map(isRefundable))
  return swaps.filter((_, index) => judged[index])
}

/**
 * Splits claims that some attester has seen a part of, and that lack signatures. A swap that the attesters cannot see
 * delivered then holds up no other.
 */
async function splitDisputed(deps: ProposeDeps): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  for (const claim of await findDisputed(pool, chainId)) {
    const [seen, unseen] = partsOf(claim)
    if (seen.length === 0 || unseen.length === 0 || (await isSigned(deps, claim))) continue
    await inTransaction(pool, async (db) => {
      if (!(await dropAttestation(db, claim.id))) return
      for (const swapIds of [seen, unseen]) await insertAttestation(db, { chainId, kind: 'claim', swapIds })
    })
  }
}

function partsOf({ swapIds, unproven }: DisputedClaim): [string[], string[]] {
  const isUnproven = (id: string) => unproven.includes(id)
  return [swapIds.filter((id) => !isUnproven(id)), swapIds.filter(isUnproven)]
}

async function isSigned(deps: ProposeDeps, claim: DisputedClaim): Promise<boolean> {
  const { origin, pool } = deps
  const byId = new Map((await findSwaps(pool, claim.swapIds)).map((swap) => [swap.id, swap.op]))
  const ops = claim.swapIds.flatMap((id) => byId.get(id) ?? [])
  const [first] = ops
  if (!first) return false
  const set = await origin.readAttesters(first.refundDeadline)
  const attested = { chainId: origin.chainId, kind: claim.kind, opHashes: ops.map(({ hash }) => hash) }
  return (await collectSignatures(deps, claim, { set, attested })) !== undefined
}
