import type { Pool } from 'pg'
import type { Chain, Heads } from '../../chains/chain.ts'
import type { Attestations, Gate } from '../../chains/family.ts'
import type { RecoveryChain } from '../../chains/recovery.ts'
import { failPoint } from '../../fail-point.ts'
import { isolate, mapIsolated, mapOwn } from '../../isolate.ts'
import { tallyAttempts } from '../../store/attempts.ts'
import {
  findProposed,
  type Outcome,
  type Proposed,
  recordCheck,
  settleOutcomes,
} from '../../store/attestations.ts'
import { findSwaps } from '../../store/swaps.ts'
import { collectError, groupBy, throwFirst } from '../../swap/group.ts'
import { isPaid, isRefundDue } from '../../swap/lifecycle.ts'
import type { Op, Swap } from '../../swap/swap.ts'

export type AttestDeps = {
  pool: Pool
  /** This attester's own views of the chains, over its own nodes. */
  chains: {
    of(chainId: number): {
      chain: Chain
      /** Open once the chain matches the configuration, and shows no transaction of our keys that is not recorded. */
      gate: Gate
      attestations: Pick<Attestations, 'sign'>
    }
    /** An op of unknown terms may have been delivered on any of them. */
    all: readonly {
      chain: Pick<Chain, 'readHeads'>
      recovery: Pick<RecoveryChain, 'chainId' | 'findDelivery' | 'expiryOf'>
    }[]
  }
  /** Whether the wallet signed the stored terms; for an orphan, whether the input is its own. */
  isRefundable(swap: Swap): Promise<boolean>
  /** The addresses of this process. */
  signers: readonly string[]
  events: {
    onAttested(kind: Outcome, swapIds: readonly string[]): void
    onRefused(swap: Swap, why: string): void
    /** The refund may become due by itself, at a later block of this attester's nodes. */
    onPostponed(swap: Swap, why: string): void
  }
}

/** A proposed outcome, and the addresses of this process that its escrow asks. */
type Asked = Proposed & { swaps: readonly Swap[]; signers: readonly string[] }

// The worker proposes an hour. These nodes may be behind the worker's.
const LONGEST_VALID_SECONDS = 2 * 3_600

// See docs/decisions.md#attesters-share-the-database.
/** Signs proposed outcomes that this attester itself has seen to be final: at most one per op, ever. */
export async function attestAll(deps: AttestDeps): Promise<void> {
  const faults: unknown[] = []
  const asked = await findAsked(deps, faults)
  await attestClaims(
    deps,
    asked.filter(({ kind }) => kind === 'claim'),
    faults,
  )
  await attestRefunds(
    deps,
    asked.filter(({ kind }) => kind === 'refund'),
    faults,
  )
  throwFirst(faults)
}

async function findAsked(deps: AttestDeps, faults: unknown[]): Promise<Asked[]> {
  const proposed = await findProposed(deps.pool)
  const ids = [...new Set(proposed.flatMap(({ swapIds }) => swapIds))]
  const byId = new Map((await findSwaps(deps.pool, ids)).map((swap) => [swap.id, swap]))
  const asked = await mapIsolated(faults, proposed, toSubject, async (each) => {
    const swaps = each.swapIds.flatMap((id) => byId.get(id) ?? [])
    return { ...each, swaps, signers: await findSigners(deps, each.chainId, swaps) }
  })
  const mine = asked.map(({ result }) => result).filter(({ signers }) => signers.length > 0)
  const mineIds = new Set(mine.map(({ id }) => id))
  for (const each of proposed) if (!mineIds.has(each.id)) await postpone(deps, each)
  return mine
}

const toSubject = ({ id }: { id: string }) => ({ step: 'attest', id })

/** Asked last from now on, so that a crowd of outcomes that cannot be judged holds up no other. */
function postpone({ pool, signers: [signer = ''] }: AttestDeps, { id }: Proposed): Promise<void> {
  return recordCheck(pool, { attestationId: id, signer })
}

async function tryOutcome(deps: AttestDeps, faults: unknown[], asked: Asked, judge: () => Promise<void>) {
  await isolate(faults, { step: `attest ${asked.kind}`, id: asked.id }, async () => {
    try {
      await judge()
    } catch (error) {
      await postpone(deps, asked)
      throw error
    }
  })
}

async function findSigners(deps: AttestDeps, chainId: number, [first]: readonly Swap[]) {
  if (!first) return []
  const { members } = await deps.chains.of(chainId).chain.readAttesters(first.op.refundDeadline)
  return deps.signers.filter((signer) => members.includes(signer))
}

async function attestClaims(deps: AttestDeps, asked: readonly Asked[], faults: unknown[]): Promise<void> {
  const paid = uniqueOf(asked).filter(({ state }) => isPaid(state))
  const signed = await filterSigned(deps, paid, faults)
  const locked = await filterLocked(deps, signed, faults)
  const proven = new Set((await filterDelivered(deps, locked, faults)).map(({ id }) => id))
  for (const claim of asked) {
    const unproven = claim.swapIds.filter((id) => !proven.has(id))
    await tryOutcome(deps, faults, claim, () =>
      unproven.length > 0 ? recordUnproven(deps, claim, unproven) : signClaim(deps, claim),
    )
  }
}

/** A swap may be part of several proposals, of which all but one are old. */
function uniqueOf(asked: readonly Asked[]): Swap[] {
  return [...new Map(asked.flatMap(({ swaps }) => swaps.map((swap) => [swap.id, swap] as const))).values()]
}

async function recordUnproven(deps: AttestDeps, { id, signers }: Asked, unproven: readonly string[]) {
  for (const signer of signers) await recordCheck(deps.pool, { attestationId: id, signer, unproven })
}

async function signClaim(deps: AttestDeps, claim: Asked): Promise<void> {
  const settled = await settle(deps, claim)
  const refused = claim.swaps.filter(({ op }) => !settled.has(op.hash))
  for (const swap of refused) deps.events.onRefused(swap, 'a refund was signed before')
  if (refused.length > 0)
    return recordUnproven(
      deps,
      claim,
      refused.map(({ id }) => id),
    )
  await sign(deps, claim)
}

/** Records the outcome before a signature exists, so that a crash in between loses nothing. */
async function settle({ pool }: AttestDeps, { kind, swaps }: Asked): Promise<Set<string>> {
  failPoint('before outcome')
  const settled = await settleOutcomes(
    pool,
    kind,
    swaps.map(({ op }) => op.hash),
  )
  failPoint('after outcome')
  return settled
}

async function sign(deps: AttestDeps, { id, chainId, kind, swaps, signers, validUntil }: Asked) {
  const ops = swaps.map(({ op }) => op)
  const opHashes = ops.map(({ hash }) => hash)
  const { attestations } = deps.chains.of(chainId)
  for (const signer of signers) {
    const signature = await attestations.sign(signer, { chainId, kind, opHashes, validUntil }, ops)
    await recordCheck(deps.pool, { attestationId: id, signer, signature })
  }
  failPoint('after attestation')
  deps.events.onAttested(
    kind,
    swaps.map((swap) => swap.id),
  )
}

async function attestRefunds(deps: AttestDeps, asked: readonly Asked[], faults: unknown[]): Promise<void> {
  const due = uniqueOf(asked).filter(({ state }) => isRefundDue(state))
  const signed = await filterSigned(deps, due, faults)
  const locked = new Map((await filterLocked(deps, signed, faults)).map((swap) => [swap.id, swap]))
  for (const refund of asked) {
    const swap = locked.get(refund.swapIds[0] ?? '')
    await tryOutcome(deps, faults, refund, () =>
      swap ? judgeRefund(deps, refund, swap) : recordUnproven(deps, refund, refund.swapIds),
    )
  }
}

const MAY_LAND = 'a signed delivery may still land'
const MAY_BE_DELIVERED = 'a delivery is still possible on some chain'
const WAITS: ReadonlySet<string> = new Set([MAY_LAND, MAY_BE_DELIVERED])

async function judgeRefund(deps: AttestDeps, refund: Asked, swap: Swap): Promise<void> {
  const objection =
    (await objectionToTerms(deps, refund)) ??
    (await (swap.op.isOrphan ? objectionToOrphan(deps, swap.op) : objectionToRefund(deps, swap)))
  const isSettled = objection === undefined && (await settle(deps, refund)).has(swap.op.hash)
  if (isSettled) return sign(deps, refund)
  const report = objection && WAITS.has(objection) ? deps.events.onPostponed : deps.events.onRefused
  report(swap, objection ?? 'a claim was attested before')
  await recordUnproven(deps, refund, refund.swapIds)
}

async function objectionToTerms(deps: AttestDeps, { chainId, swapIds, validUntil }: Asked) {
  if (swapIds.length !== 1 || validUntil === undefined) return 'a refund has one op and an expiry'
  const { head } = await deps.chains.of(chainId).chain.readHeads()
  return validUntil > head.seconds + LONGEST_VALID_SECONDS
    ? 'its signature would be valid for too long'
    : undefined
}

/**
 * The reason why the input may not be refunded yet, if any. At a final block of this attester's own nodes the vault
 * must show no delivery, and every signed one must be consumed or too late. An unreachable destination is tolerated
 * only if the recorded attempts show that no delivery was ever signed.
 */
async function objectionToRefund(deps: AttestDeps, { id, op }: Swap): Promise<string | undefined> {
  // Without verification, the recorded attempts may be incomplete.
  if (!deps.chains.of(op.destinationChain).gate.isOpen)
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
  return isSettled ? undefined : MAY_LAND
}

// Clocks of chains differ by less: no delivery precedes the op by more than this.
const SKEW_SECONDS = 3_600

/**
 * The destination of an orphan and its fill deadline are unknown, except that the latter is before its refund deadline.
 * So no chain may show a delivery at a final block of this attester's own nodes, past that deadline if deliveries end
 * by deadline. On other chains a delivery lives for a minute, and the rebuild took longer without a worker.
 */
async function objectionToOrphan(deps: AttestDeps, op: Op): Promise<string | undefined> {
  for (const { chain, recovery } of deps.chains.all) {
    const { hard } = await chain.readHeads()
    const isOver = recovery.expiryOf?.(hard) !== undefined || hard.seconds > op.refundDeadline
    if (!isOver) return MAY_BE_DELIVERED
    const made = await recovery.findDelivery(op.deliveryHash, op.opDeadline - SKEW_SECONDS, hard)
    if (made) return `chain ${recovery.chainId} shows a delivery`
  }
  return undefined
}

async function readDestination(deps: AttestDeps, op: Op) {
  const destination = deps.chains.of(op.destinationChain).chain
  const { hard } = await destination.readHeads()
  const undelivered = await destination.readUndelivered([op], hard)
  const isOver = destination.isDeliveryOver(op, hard)
  return { block: hard.number, isUndelivered: undelivered.has(op.hash), isOver }
}

async function filterSigned(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const judged = await mapIsolated(faults, swaps, toSubject, deps.isRefundable)
  for (const { item, result } of judged)
    if (!result) deps.events.onRefused(item, 'the stored terms differ from the signed ones')
  return judged.filter(({ result }) => result).map(({ item }) => item)
}

/** The swaps that remain of each chain. A silent chain has none. */
async function filterOnChains(
  swaps: readonly Swap[],
  chainIdOf: (swap: Swap) => number,
  faults: unknown[],
  filter: (chainId: number, swaps: readonly Swap[]) => Promise<Swap[]>,
): Promise<Swap[]> {
  const byChain = [...groupBy(swaps, chainIdOf)]
  const left = await mapOwn(byChain, ([chainId, group]) => collectError(faults, () => filter(chainId, group)))
  return left.flatMap((group) => group ?? [])
}

function filterLocked(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const filter = (chainId: number, group: readonly Swap[]) =>
    lockedOf(deps.chains.of(chainId).chain, group, faults)
  return filterOnChains(swaps, ({ op }) => op.originChain, faults, filter)
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
function filterDelivered(deps: AttestDeps, swaps: readonly Swap[], faults: unknown[]): Promise<Swap[]> {
  const filter = (chainId: number, group: readonly Swap[]) =>
    deliveredOf(deps.chains.of(chainId).chain, group, faults)
  return filterOnChains(swaps, ({ op }) => op.destinationChain, faults, filter)
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

// Final blocks stay final: a sweep every second need not read newer ones each time.
const HEADS_MS = 3_000

/** The same chain with heads that are cached for a few seconds. */
export function rememberHeads(chain: Chain): Chain {
  let known: { at: number; heads: Promise<Heads> } | undefined
  const readHeads = () => {
    if (known && performance.now() - known.at < HEADS_MS) return known.heads
    const heads = chain.readHeads()
    known = { at: performance.now(), heads }
    heads.catch(() => {
      known = undefined
    })
    return heads
  }
  return { ...chain, readHeads }
}
