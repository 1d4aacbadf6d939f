import type { Heads } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { attempt, throwFirst } from '../../model/attempt.ts'
import type { FailureCode } from '../../model/outcome.ts'
import type { Swap } from '../../model/swap.ts'
import { tallyAttempts, wasAuthorityRefused } from '../../store/attempts.ts'
import type { Lease } from '../../store/lanes.ts'
import { advanceSwap, areUnmoved, findStalledLocks } from '../../store/swaps.ts'
import { isExpired, type Readiness, readinessOf } from './decline.ts'
import { type LockDeps, lockBatch } from './lock.ts'

const MAX_ATTEMPTS = 3

/**
 * Swaps whose every signed lock was consumed by the chain at a hard-final block without locking: only this
 * key could have locked them, so they fail with what stands in the way, or are tried once more. One that was paid
 * before its lock was final, and lost it, is locked again while the wallet's signature lasts.
 */
export async function retryStalledLocks(deps: LockDeps, lease: Lease, heads: Heads): Promise<void> {
  const stalled = await findStalledLocks(deps.pool, {
    chainId: deps.origin.chainId,
    locker: deps.sender.address,
    block: heads.hard.number,
  })
  if (stalled.length === 0) return
  const refs = stalled.map(({ op }) => op)
  const faults: unknown[] = []
  const [soft, hard] = await Promise.all([
    deps.origin.readLocks(refs, heads.head, faults),
    deps.origin.readLocks(refs, heads.hard, faults),
  ])
  const isUnlocked = ({ op }: Swap) => soft.get(op.hash) === 'none' && hard.get(op.hash) === 'none'
  const unlocked = stalled.filter(isUnlocked)
  if (unlocked.length > 0) await deps.refreshPrices()
  const tallies = await tallyAttempts(
    deps.pool,
    'lock',
    unlocked.map((swap) => swap.id),
    heads.hard.number,
  )
  for (const swap of unlocked) {
    const tally = tallies.get(swap.id)
    if (!tally || tally.open > 0) continue
    const isPaid = swap.state !== 'locking'
    await attempt(faults, () =>
      isPaid ? lockPaid(deps, lease, heads, swap) : lockAgain(deps, lease, heads, swap, tally.total),
    )
  }
  throwFirst(faults)
}

async function lockAgain(deps: LockDeps, lease: Lease, heads: Heads, swap: Swap, tries: number) {
  const readiness = await readinessToRetry(deps, heads, swap, tries)
  if (readiness.kind === 'decline') await fail(deps, heads, swap, readiness.code)
  if (readiness.kind === 'ready' && deps.sender.room() > 0) await lockBatch(deps, lease, heads, [swap])
}

/** Its input is owed to the operator: only what the chain would refuse stands against it. */
async function lockPaid(deps: LockDeps, lease: Lease, heads: Heads, swap: Swap): Promise<void> {
  if (deps.sender.room() === 0 || isExpired(swap.op, heads)) return
  if (await deps.origin.findObstacle(swap)) return
  await deps.sender.send(lease, heads, {
    ...{ role: 'lock', request: await deps.origin.planLock([swap]), swapIds: [swap.id] },
    record: (db) => areUnmoved(db, [swap]),
  })
}

/** Judged like a first lock, except that it ends after a few tries. */
async function readinessToRetry(deps: LockDeps, heads: Heads, swap: Swap, tries: number): Promise<Readiness> {
  const readiness = await readinessOf(deps, heads, swap)
  if (readiness.kind !== 'ready' || tries < MAX_ATTEMPTS) return readiness
  const isRefused = await wasAuthorityRefused(deps.pool, swap.id)
  return { kind: 'decline', code: isRefused ? 'INVALID_AUTHORIZATION' : 'INPUT_UNAVAILABLE' }
}

async function fail(deps: LockDeps, heads: Heads, swap: Swap, failureCode: FailureCode): Promise<void> {
  const proof = { kind: 'attemptsConsumedUnlocked', chainId: deps.origin.chainId, block: heads.hard }
  failPoint('before lockDead')
  const moved = await advanceSwap(deps.pool, { swap, event: 'lockDead', failureCode, proof })
  failPoint('after lockDead')
  if (moved) deps.onDeclined(moved, failureCode)
}
