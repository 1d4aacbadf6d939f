import type { Pool } from 'pg'
import type { ChainEvent, Heads, OriginChain } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import { isolate } from '../../isolate.ts'
import { wasAuthorityRefused } from '../../store/attempts.ts'
import { findEvents, rewindCursor, type StoredEvent } from '../../store/chain-events.ts'
import type { Db } from '../../store/db.ts'
import type { Change } from '../../store/swap-moves.ts'
import {
  findSwapsByOp,
  findUndeposited,
  findUnlocked,
  setLockedBlock,
  setWaiting,
} from '../../store/swaps.ts'
import { depositFailure } from '../../swap/deposit.ts'
import { type FinalityRules, waitingFor } from '../../swap/finality.ts'
import { throwFirst } from '../../swap/group.ts'
import type { FailureCode, Proof } from '../../swap/lifecycle.ts'
import { decideLocked, decideNeverLocked } from '../../swap/origin.ts'
import type { Swap } from '../../swap/swap.ts'
import { failureOf } from '../../ways/registry.ts'

export type ConfirmLockDeps = {
  pool: Pool
  origin: OriginChain
  rules: FinalityRules
  moves: Moves
}

/** Advances swaps with an unconfirmed lock: by its event, or by a final block past their deadline without one. */
export async function confirmLocks(deps: ConfirmLockDeps, heads: Heads): Promise<void> {
  const { pool, origin } = deps
  const { chainId } = origin
  const undeposited = await findUndeposited(pool, { chainId, seconds: heads.hard.seconds })
  const swaps = [...(await findUnlocked(pool, chainId)), ...undeposited]
  const ids = swaps.map(({ op }) => op.hash)
  const events = await findEvents(pool, { chainId, kind: 'locked', ids })
  const faults: unknown[] = []
  const seen: Change[] = []
  for (const swap of swaps) {
    const event = events.get(swap.op.hash)
    const change =
      event && (await isolate(faults, toSubject(swap), () => confirmLock(deps, heads, swap, event)))
    if (change) seen.push(change)
  }
  await deps.moves.advanceAll(faults, 'move locked', seen)
  const over = swaps.filter((swap) => !events.has(swap.op.hash) && origin.isLockOver(swap, heads.hard))
  await endUnlockable(deps, heads, over, faults)
  throwFirst(faults)
}

/** The change of a swap whose lock is deep enough; undefined if it waits, or was paid before. */
async function confirmLock(
  { pool, rules }: ConfirmLockDeps,
  heads: Heads,
  swap: Swap,
  { block, seenAt, txHash }: StoredEvent,
): Promise<Change | undefined> {
  const decision = decideLocked(swap, { block, seconds: seenAt }, { rules, at: heads })
  if (decision === 'lockSeen') return { swap, event: decision, originTxHash: txHash, lockedBlock: block }
  if (decision === 'lockFound') await setLockedBlock(pool, swap, block)
  if (decision === 'late') await setWaiting(pool, swap, waitingFor('lateLock', seenAt + rules.hardSeconds))
  return undefined
}

/** Ends swaps that a hard-final block past their deadline shows as unlocked: they can never be locked. */
async function endUnlockable(
  deps: ConfirmLockDeps,
  heads: Heads,
  swaps: readonly Swap[],
  faults: unknown[],
): Promise<void> {
  if (swaps.length === 0) return
  const { pool, origin } = deps
  const states = await origin.readLocks(
    swaps.map(({ op }) => op),
    heads.hard,
    faults,
  )
  for (const swap of swaps) {
    const state = states.get(swap.op.hash)
    // A slot that cannot be read decides nothing.
    if (state === undefined) continue
    const decision = decideNeverLocked(swap, state)
    if (decision === 'rescan')
      await rewindCursor(pool, { chainId: origin.chainId, to: swap.op.originBlock - 1n })
    else if (decision === 'declined' || decision === 'lockDead')
      await isolate(faults, toSubject(swap), () => fail(deps, heads, swap, decision))
  }
}

const STEP = 'confirm lock'
const toSubject = ({ id }: Swap) => ({ step: STEP, id })

async function fail(
  { pool, origin, moves }: ConfirmLockDeps,
  heads: Heads,
  swap: Swap,
  event: 'declined' | 'lockDead',
): Promise<void> {
  const failureCode = event === 'lockDead' ? await reasonOf(origin, pool, swap) : declinedBecause(swap)
  await moves.advance({ swap, event, failureCode, proof: neverLockedProof(origin, heads) })
}

function declinedBecause({ state, deposit, op }: Swap): FailureCode {
  if (state !== 'awaitingDeposit') return 'OPERATION_EXPIRED'
  return depositFailure(BigInt(deposit?.received ?? 0), op.inputAmount)
}

/** The chain has already decided that the swap failed: a reason that cannot be read does not hold it up. */
async function reasonOf(origin: OriginChain, pool: Pool, swap: Swap): Promise<FailureCode> {
  const obstacle = await origin.findObstacle(swap).catch(() => undefined)
  if (obstacle) return failureOf(swap.op, obstacle)
  return (await wasAuthorityRefused(pool, swap.id)) ? 'INVALID_AUTHORIZATION' : 'OPERATION_EXPIRED'
}

/** Proof: a hard-final block past the op's deadline in which its input is not taken. */
function neverLockedProof({ chainId }: OriginChain, { hard }: Heads): Proof<'notLockedPastDeadline'> {
  return { kind: 'notLockedPastDeadline', chainId, block: hard }
}

/** Moves swaps back to `locking` if a reorg undid their lock and nothing was paid for them. */
export async function undoLocks(
  moves: Pick<Moves, 'advanceIn'>,
  db: Db,
  gone: readonly ChainEvent[],
): Promise<void> {
  const hashes = gone.filter(({ kind }) => kind === 'locked').map(({ id }) => id)
  for (const swap of await findSwapsByOp(db, hashes)) await moves.advanceIn(db, { swap, event: 'lockLost' })
}
