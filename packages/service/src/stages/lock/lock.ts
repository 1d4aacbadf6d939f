import type { Pool } from 'pg'
import type { Heads, OriginChain } from '../../chains/chain.ts'
import type { Moves } from '../../engine/advance.ts'
import type { SignedCheck } from '../../engine/checks.ts'
import type { Sender } from '../../engine/sender.ts'
import { isolate, mapIsolated } from '../../isolate.ts'
import { bookClaims, type TokenBook } from '../../store/claim-books.ts'
import type { Lease } from '../../store/lanes.ts'
import { readLockLimits } from '../../store/liquidity.ts'
import { type OpValue, raiseValues } from '../../store/ops.ts'
import { advanceTogether, lowerAmounts } from '../../store/swap-moves.ts'
import { MAX_UINT256 } from '../../swap/amount.ts'
import type { Wasted } from '../../swap/budgets.ts'
import { claimRoom, EMPTY_BOOK, withinRoom } from '../../swap/exposure.ts'
import { leastBound } from '../../swap/gas.ts'
import { chunksOf, collectError, forEachConcurrently, throwFirst } from '../../swap/group.ts'
import type { FailureCode } from '../../swap/lifecycle.ts'
import { type Paid, withPaid } from '../../swap/pricing.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { wayOf } from '../../ways/registry.ts'
import { isAwaitingPrice, type ReadinessDeps, readinessOf, type WaitingLocks } from './readiness.ts'

export type LockDeps = ReadinessDeps & {
  pool: Pool
  origin: OriginChain
  sender: Sender
  /** How many inputs this key takes in one transaction. */
  batchSize: number
  refreshPrices(): Promise<void>
  /** The value of the swap in USD cents, by our own prices; undefined without a fresh price. */
  valueCentsOf(swap: Swap): bigint | undefined
  moves: Pick<Moves, 'advance'>
} & Pick<SignedCheck, 'isPayable'>

// Each send waits for the database and a node; the next need not wait with it.
const SENT_AT_ONCE = 4

/**
 * Locks the inputs that wait for the key, beside other tasks that do the same, in as few transactions as possible.
 * True if some were left, or may be there. See docs/decisions.md#lease-and-heads.
 */
export async function lockWaiting(
  deps: LockDeps,
  lease: Lease,
  heads: Heads,
  waiting: WaitingLocks,
): Promise<boolean> {
  while (deps.sender.room() > 0) {
    await waiting.refresh()
    const { sent, left } = await lockFound(deps, lease, heads, waiting)
    // Later inputs wake the lane again.
    if (sent === 0 || !waiting.hasMore()) return left > 0 || deps.sender.room() === 0
  }
  return true
}

/** `sent`: the transactions. `left`: the inputs that none of them carries. */
async function lockFound(deps: LockDeps, lease: Lease, heads: Heads, waiting: WaitingLocks) {
  const faults: unknown[] = []
  let [sent, left] = [0, 0]
  while (deps.sender.room() > 0) {
    const taken = waiting.take()
    if (taken.length === 0) break
    left += taken.length
    try {
      const due = await findDue(deps, heads, taken, faults)
      if (due.length === 0) continue
      const limits = await readLockLimits(
        deps.pool,
        due.map(({ op }) => op.id),
      )
      const [ready, roomOf] = await Promise.all([
        declineUnlockable(deps, lease, heads, { waiting: due, wasted: limits.wasted }, faults),
        readRoom(deps, heads, { swaps: due, books: limits.books }),
      ])
      // The others wait until claims free capacity, or until they expire.
      const claimable = withinRoom(ready, demandsOf, roomOf)
      const batches = batchesOf(claimable, deps.batchSize).slice(0, deps.sender.room())
      await forEachConcurrently(batches, SENT_AT_ONCE, async (batch) => {
        const isSent = await collectError(faults, () => lockBatch(deps, lease, heads, batch, faults))
        if (isSent) left -= batch.length
      })
      sent += batches.length
    } finally {
      waiting.giveBack(taken)
    }
  }
  throwFirst(faults)
  return { sent, left }
}

/** Leaves out what only waits for a newer price, before anything is read for it. */
async function findDue(deps: LockDeps, heads: Heads, waiting: readonly Swap[], faults: unknown[]) {
  await deps.refreshPrices()
  const subjectOf = ({ id }: Swap) => ({ step: 'price', id })
  const judged = await mapIsolated(faults, waiting, subjectOf, async (swap) =>
    isAwaitingPrice(deps, heads, swap),
  )
  return judged.filter(({ result }) => !result).map(({ item }) => item)
}

/** Whether one of the inputs that were found last waits for no price any more. */
export async function hasPriced(deps: LockDeps, heads: Heads, waiting: WaitingLocks): Promise<boolean> {
  const faults: unknown[] = []
  const due = await findDue(deps, heads, waiting.last(), faults)
  // The work itself reports faults.
  return due.length + faults.length > 0
}

/** Declines swaps that cannot succeed and returns the ready ones. */
async function declineUnlockable(
  deps: LockDeps,
  lease: Lease,
  heads: Heads,
  { waiting, wasted }: { waiting: readonly Swap[]; wasted: ReadonlyMap<string, Wasted> },
  faults: unknown[],
): Promise<Swap[]> {
  const judged = await mapIsolated(faults, waiting, toSubject, (swap) =>
    readinessOf(deps, heads, swap, wasted.get(swap.op.id)),
  )
  for (const { item: swap, result: readiness } of judged) {
    if (readiness.kind === 'depositLost')
      await isolate(faults, toSubject(swap), () =>
        deps.moves.advance({ swap, event: 'depositLost', deposit: { received: '0' } }),
      )
    if (readiness.kind === 'decline')
      await isolate(faults, toSubject(swap), () => decline(deps, lease, heads, swap, readiness.code))
  }
  return judged.flatMap(({ item, result }) =>
    result.kind === 'ready' ? [atPrice(item, result.lowered)] : [],
  )
}

const atPrice = (swap: Swap, lowered: Paid | undefined): Swap & { lowered?: Paid } =>
  lowered ? { ...swap, op: withPaid(swap.op, lowered), lowered } : swap

const toSubject = ({ id }: Swap) => ({ step: 'lock', id })

/** Ends a swap for which nothing was signed, and nothing can be from now on: its input stays in the wallet. */
async function decline(
  deps: LockDeps,
  lease: Lease,
  heads: Heads,
  swap: Swap,
  failureCode: FailureCode,
): Promise<void> {
  const proof = { kind: 'neverSigned', chainId: deps.origin.chainId, block: heads.head } as const
  await deps.moves.advance({ swap, event: 'declined', failureCode, proof }, { lease })
}

/**
 * An input with a delegation to our code has a transaction of its own: nodes refuse all of it if the delegating
 * wallet has others pending. The escrow takes several inputs of one way at once, if that way is batched; a
 * contract wallet's lock is simulated, and so is singly sent.
 */
export function batchesOf(swaps: readonly Swap[], size: number): Swap[][] {
  const batches: Swap[][] = []
  for (const swap of swaps) {
    const fits = (batch: Swap[]) =>
      batch.length < size &&
      batch.every(({ op, delegation }) => !delegation && op.wallet !== swap.op.wallet && isAlike(op, swap.op))
    const batch = swap.delegation || isSingle(swap.op) ? undefined : batches.find(fits)
    if (batch) batch.push(swap)
    else batches.push([swap])
  }
  return batches
}

const isAlike = (a: Op, b: Op) => a.method === b.method
const isSingle = (op: Op) => !wayOf(op).isBatched || op.isContract === true

/** How much of a token can be claimed in time. */
async function readRoom(
  deps: LockDeps,
  heads: Heads,
  { swaps, books }: { swaps: readonly Swap[]; books: readonly TokenBook[] },
): Promise<(token: string) => bigint> {
  const { chainId } = deps.origin
  const caps = await readCaps(deps, swaps)
  return (token) => {
    const cap = caps.get(token)
    const book = books.find((each) => each.chainId === chainId && each.token === token)
    return cap === undefined ? MAX_UINT256 : claimRoom(book ?? EMPTY_BOOK, cap, heads.head.seconds)
  }
}

const demandsOf = ({ op, isClaimBooked }: Swap) =>
  isClaimBooked ? [] : [{ key: op.inputToken, amount: op.inputAmount }]

/** Hourly claim caps, by token; tokens without a cap are absent. */
async function readCaps({ origin }: Pick<LockDeps, 'origin'>, swaps: readonly Swap[]) {
  const tokens = [...new Set(swaps.map(({ op }) => op.inputToken))]
  const caps = new Map<string, bigint>()
  for (const token of tokens) {
    const cap = await origin.readClaimCap?.(token)
    if (cap) caps.set(token, cap.perHour)
  }
  return caps
}

type BatchDeps = Pick<LockDeps, 'origin' | 'sender' | 'valueCentsOf' | 'isPayable'>

export async function lockBatch(
  deps: BatchDeps,
  lease: Lease,
  heads: Heads,
  batch: readonly Swap[],
  faults: unknown[],
): Promise<boolean> {
  const payable = await mapIsolated(faults, batch, toSubject, deps.isPayable)
  const swaps = payable.filter(({ result }) => result).map(({ item }) => item)
  if (swaps.length === 0) return false
  const undervalued = findUndervalued(deps, swaps)
  if (!undervalued) return false
  const request = await deps.origin.planLock(swaps)
  if (swaps.length > 1 && !(await deps.sender.fits(heads, request))) {
    for (const half of chunksOf(swaps, Math.ceil(swaps.length / 2)))
      await lockBatch(deps, lease, heads, half, faults)
    return true
  }
  const caps = await readCaps(deps, swaps)
  const { chainId } = deps.origin
  const { seconds } = heads.head
  return deps.sender.send(lease, heads, {
    role: 'lock',
    request,
    swapIds: swaps.map((swap) => swap.id),
    feeBound: leastBound(swaps.map(({ op }) => op.lockFeeBound)),
    async record(db) {
      await raiseValues(db, undervalued)
      if (!(await lowerAmounts(db, swaps))) return false
      if (!(await advanceTogether(db, { swaps, event: 'lockRecorded' }))) return false
      // Last, because locks of all keys wait for the row of the token until the commit.
      return bookClaims(db, { chainId, swaps, seconds, caps })
    },
  })
}

/**
 * Finds swaps whose value exceeds that of their op token. An attacker with a sealing key could understate the value,
 * and so have more delivered against soft locks than the cap allows. Undefined without a price.
 */
function findUndervalued(
  deps: Pick<LockDeps, 'valueCentsOf'>,
  swaps: readonly Swap[],
): OpValue[] | undefined {
  const found: OpValue[] = []
  for (const swap of swaps) {
    const cents = deps.valueCentsOf(swap)
    if (cents === undefined) return undefined
    if (cents > swap.op.valueCents) found.push({ opId: swap.op.id, cents })
  }
  return found
}
