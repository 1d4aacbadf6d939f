import type { Pool } from 'pg'
import { atMostEvery } from '../../async/timing.ts'
import type { Heads, OriginChain } from '../../chains/chain.ts'
import type { SignedCheck } from '../../engine/checks.ts'
import type { Task } from '../../engine/lane.ts'
import type { HeadFollower } from '../../engine/views.ts'
import { isolate, mapIsolated } from '../../isolate.ts'
import {
  type DisputedClaim,
  dropAttestation,
  findDisputed,
  insertAttestation,
} from '../../store/attestations.ts'
import { readSettleWork } from '../../store/chain-work.ts'
import { inTransaction } from '../../store/db.ts'
import { findSwaps, findToPropose } from '../../store/swaps.ts'
import type { Topic } from '../../store/wakes.ts'
import { keyOfSet } from '../../swap/attester-set.ts'
import { chunksOf, collectError, groupBy, throwFirst } from '../../swap/group.ts'
import type { Swap } from '../../swap/swap.ts'
import { type CollectDeps, collectSignatures } from './collect.ts'
import { type RelayDeps, releaseDeferred } from './relay.ts'

export type ProposeDeps = {
  pool: Pool
  origin: Pick<OriginChain, 'chainId' | 'readMaxClaims' | 'readAttesters'>
} & CollectDeps &
  Pick<SignedCheck, 'isRefundable'>

const REFUND_VALID_SECONDS = 3_600

/**
 * Proposes outcomes for the attesters to sign. A claim has its ops fixed here, once, so that all attesters sign the
 * same batch. Every attester checks all of it on its own nodes. See docs/decisions.md#proposed-outcomes.
 */
export async function proposeOutcomes(deps: ProposeDeps, heads: Heads): Promise<void> {
  const faults: unknown[] = []
  const work = await readSettleWork(deps.pool, deps.origin.chainId)
  if (work.mayBeDisputed) await collectError(faults, () => splitDisputed(deps, faults))
  if (work.hasClaims) await collectError(faults, () => proposeClaims(deps, heads, faults))
  if (work.hasRefunds) await collectError(faults, () => proposeRefunds(deps, heads, faults))
  throwFirst(faults)
}

async function proposeClaims(deps: ProposeDeps, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  const found = await findToPropose(pool, { kind: 'claim', chainId })
  const swaps = await filterProven(deps, found, faults)
  if (swaps.length === 0) return
  const most = (await origin.readMaxClaims?.(heads)) ?? 1
  for (const group of await groupBySet(deps, swaps, faults)) {
    for (const batch of claimBatches(group, most))
      await insertAttestation(pool, { chainId, kind: 'claim', swapIds: batch.map(({ id }) => id) })
  }
}

const toSubject = ({ id }: { id: string }) => ({ step: 'propose', id })

/** The escrow takes one set's signatures per batch. */
async function groupBySet({ origin }: ProposeDeps, swaps: readonly Swap[], faults: unknown[]) {
  const keyed = await mapIsolated(faults, swaps, toSubject, async ({ op }) =>
    keyOfSet(await origin.readAttesters(op.refundDeadline)),
  )
  return [...groupBy(keyed, ({ result }) => result).values()].map((group) => group.map(({ item }) => item))
}

async function proposeRefunds(deps: ProposeDeps, heads: Heads, faults: unknown[]): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  const validUntil = heads.head.seconds + REFUND_VALID_SECONDS
  const found = await findToPropose(pool, { kind: 'refund', chainId })
  for (const { id } of await filterProven(deps, found, faults))
    await insertAttestation(pool, { chainId, kind: 'refund', swapIds: [id], validUntil })
}

async function filterProven({ isRefundable }: ProposeDeps, swaps: readonly Swap[], faults: unknown[]) {
  const judged = await mapIsolated(faults, swaps, toSubject, isRefundable)
  return judged.filter(({ result }) => result).map(({ item }) => item)
}

/**
 * Splits claims that some attester has seen a part of, and that lack signatures. A swap that the attesters cannot see
 * delivered then holds up no other.
 */
async function splitDisputed(deps: ProposeDeps, faults: unknown[]): Promise<void> {
  for (const claim of await findDisputed(deps.pool, deps.origin.chainId))
    await isolate(faults, { step: 'split', id: claim.id }, () => split(deps, claim))
}

async function split(deps: ProposeDeps, claim: DisputedClaim): Promise<void> {
  const { pool, origin } = deps
  const [seen, unseen] = partsOf(claim)
  if (seen.length === 0 || unseen.length === 0 || (await isSigned(deps, claim))) return
  await inTransaction(pool, async (db) => {
    if (!(await dropAttestation(db, claim.id))) return
    for (const swapIds of [seen, unseen])
      await insertAttestation(db, { chainId: origin.chainId, kind: 'claim', swapIds })
  })
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

// Claims are not urgent, and more of them share a transaction.
const PROPOSE_MS = 1_000
// The longest wait of deferred claims after an hour of their cap has ended.
const DEFERRED_LOOK_MS = 5_000

type SettleDeps = ProposeDeps & Pick<RelayDeps, 'origin'> & { follower: Pick<HeadFollower, 'current'> }

/** Proposes outcomes to the attesters, and releases claims that the cap of an earlier hour deferred. */
export function createSettleTasks(deps: SettleDeps): Task[] {
  const propose = atMostEvery(PROPOSE_MS, (heads: Heads) => proposeOutcomes(deps, heads))
  const release = atMostEvery(DEFERRED_LOOK_MS, (heads: Heads) => releaseDeferred(deps, heads))
  const taskOf = (topics: readonly Topic[], work: (heads: Heads) => Promise<void>): Task => ({
    topics,
    async step() {
      const heads = deps.follower.current()
      if (heads) await work(heads)
    },
  })
  return [taskOf([`head:${deps.origin.chainId}`], propose), taskOf([], release)]
}
