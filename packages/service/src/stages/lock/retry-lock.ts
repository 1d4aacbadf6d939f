import type { Block, Heads } from '../../chains/chain.ts'
import { isolate } from '../../isolate.ts'
import { tallyAttempts, wasAuthorityRefused } from '../../store/attempts.ts'
import { findWasted } from '../../store/gas.ts'
import type { Lease } from '../../store/lanes.ts'
import { sharedReadsOf } from '../../store/shared-reads.ts'
import { areUnmoved } from '../../store/swaps.ts'
import { throwFirst } from '../../swap/group.ts'
import type { FailureCode } from '../../swap/lifecycle.ts'
import type { Swap } from '../../swap/swap.ts'
import { failureOf } from '../../ways/registry.ts'
import { type LockDeps, lockBatch } from './lock.ts'
import { isExpired, type Readiness, readinessOf } from './readiness.ts'

const MAX_ATTEMPTS = 3
// Its owner pays nothing for a failure, and its simulation passed before.
const MAX_OF_CONTRACT = 1

const mostTries = ({ op }: Swap) => (op.isContract ? MAX_OF_CONTRACT : MAX_ATTEMPTS)

/**
 * Locks swaps again whose every signed lock was consumed by the chain without effect; only this key could have locked
 * them. Does so at settle depth: a slot takes an op once, whichever of its locks lands. Fails them, with the reason,
 * only once that is hard-final. A swap that was paid before its lock was final, and lost the lock, is locked again
 * while the wallet's signature is valid. True if it found any.
 */
export async function retryStalledLocks(deps: LockDeps, lease: Lease, heads: Heads): Promise<boolean> {
  const [hard, settle] = [heads.hard.number, heads.settle.number]
  const stalled = await sharedReadsOf(deps.pool).stalledLocks({
    chainId: deps.origin.chainId,
    locker: deps.sender.address,
    hard,
    settle,
  })
  if (stalled.length === 0) return false
  const ids = stalled.map((swap) => swap.id)
  const tallies = await tallyAttempts(deps.pool, 'lock', ids, hard)
  const tries = stalled.flatMap((swap) => {
    const tally = tallies.get(swap.id)
    return tally ? [{ swap, tries: tally.total, isFinal: tally.open === 0 }] : []
  })
  const faults: unknown[] = []
  const unlocked = await findUnlocked(deps, heads, tries, faults)
  if (unlocked.length > 0) await deps.refreshPrices()
  for (const tried of unlocked) {
    const isPaid = tried.swap.state !== 'locking'
    await isolate(faults, { step: 'lock again', id: tried.swap.id }, () =>
      isPaid ? lockPaid(deps, lease, heads, tried) : lockAgain(deps, lease, heads, tried, faults),
    )
  }
  throwFirst(faults)
  return true
}

/** The number of tries, and whether all of them are final, so that no reorg can revive one. */
type Tried = { swap: Swap; tries: number; isFinal: boolean }

/** Returns the swaps that neither the head nor the deciding block shows as locked. */
async function findUnlocked({ origin }: LockDeps, heads: Heads, tried: readonly Tried[], faults: unknown[]) {
  const [final, soft] = [tried.filter(({ isFinal }) => isFinal), tried.filter(({ isFinal }) => !isFinal)]
  const read = (some: readonly Tried[], at: Block) =>
    some.length > 0
      ? origin.readLocks(
          some.map(({ swap }) => swap.op),
          at,
          faults,
        )
      : new Map()
  const [atHead, atHard, atSettle] = await Promise.all([
    read(tried, heads.head),
    read(final, heads.hard),
    read(soft, heads.settle),
  ])
  return tried.filter(({ swap: { op }, isFinal }) => {
    const decided = isFinal ? atHard : atSettle
    return atHead.get(op.hash) === 'none' && decided.get(op.hash) === 'none'
  })
}

async function lockAgain(
  deps: LockDeps,
  lease: Lease,
  heads: Heads,
  { swap, tries, isFinal }: Tried,
  faults: unknown[],
): Promise<void> {
  const readiness = await readinessToRetry(deps, heads, swap, tries)
  if (readiness.kind === 'decline' && isFinal) await fail(deps, heads, swap, readiness.code)
  if (readiness.kind === 'ready' && deps.sender.room() > 0)
    await lockBatch(deps, lease, heads, [swap], faults)
}

/** Locks the input of a paid swap again: it is due to the operator, so only the chain's refusal prevents it. */
async function lockPaid(deps: LockDeps, lease: Lease, heads: Heads, { swap, tries, isFinal }: Tried) {
  if (!isFinal && tries >= mostTries(swap)) return
  if (deps.sender.room() === 0 || isExpired(swap.op, heads)) return
  if (await deps.origin.findObstacle(swap)) return
  await deps.sender.send(lease, heads, {
    role: 'lock',
    request: await deps.origin.planLock([swap]),
    swapIds: [swap.id],
    record: (db) => areUnmoved(db, [swap]),
  })
}

/** Judged like a first lock, but declined after a few tries. */
async function readinessToRetry(deps: LockDeps, heads: Heads, swap: Swap, tries: number): Promise<Readiness> {
  const wasted = await findWasted(deps.pool, [swap.op.id])
  const readiness = await readinessOf(deps, heads, swap, wasted.get(swap.op.id))
  if (readiness.kind !== 'ready' || tries < mostTries(swap)) return readiness
  const isRefused = await wasAuthorityRefused(deps.pool, swap.id)
  const code = failureOf(swap.op, 'INPUT_UNAVAILABLE')
  return { kind: 'decline', code: isRefused ? 'INVALID_AUTHORIZATION' : code }
}

async function fail(deps: LockDeps, heads: Heads, swap: Swap, failureCode: FailureCode): Promise<void> {
  const { chainId } = deps.origin
  const proof = { kind: 'attemptsConsumedUnlocked', chainId, block: heads.hard } as const
  await deps.moves.advance({ swap, event: 'lockDead', failureCode, proof })
}
