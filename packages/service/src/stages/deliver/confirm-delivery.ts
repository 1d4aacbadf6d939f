import type { Pool } from 'pg'
import type { ChainEvent, DestinationChain, Heads } from '../../chains/chain.ts'
import { failPoint } from '../../fail-point.ts'
import { isolate, isolateTogether } from '../../isolate.ts'
import { closeEvents, findEvents, rewindCursor, type StoredEvent } from '../../store/chain-events.ts'
import type { Lease } from '../../store/lanes.ts'
import type { Change } from '../../store/swap-moves.ts'
import {
  findForgottenDeliveries,
  findSwapsByDelivery,
  findUndelivered,
  markDeliveriesFinal,
  setDeliveredBlock,
  setWaiting,
} from '../../store/swaps.ts'
import { blockAtDepth, type FinalityRules, waitingFor } from '../../swap/finality.ts'
import { collectError, throwFirst } from '../../swap/group.ts'
import { isOpen, isPaid } from '../../swap/lifecycle.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { type DecideRefundDeps, decideRefund } from './judge.ts'

export type ConfirmDeliveryDeps = DecideRefundDeps & {
  pool: Pool
  destination: DestinationChain
  rules: FinalityRules
  /** The measured time to finality; undefined until it was measured. */
  finalitySeconds(): number | undefined
}

// Time, beyond the destination's finality, to deliver again if a reorg undoes a reported delivery.
const REDELIVERY_SECONDS = 60

/**
 * Advances swaps with an unconfirmed delivery: settles them by its event, or refunds them once a final block past their
 * deadline shows none.
 */
export async function confirmDeliveries(
  deps: ConfirmDeliveryDeps,
  lease: Lease,
  heads: Heads,
): Promise<void> {
  const { pool, destination } = deps
  const faults: unknown[] = []
  await expectForgotten(deps, faults)
  const swaps = await findUndelivered(pool, destination.chainId)
  const ids = swaps.map(({ op }) => op.deliveryHash)
  const events = await findEvents(pool, { chainId: destination.chainId, kind: 'delivered', ids })
  const silent: Swap[] = []
  const seen: Change[] = []
  for (const swap of swaps) {
    const event = events.get(swap.op.deliveryHash)
    const isOver = destination.isDeliveryOver(swap.op, heads.hard)
    if (event && (event.amount ?? 0n) >= swap.op.minOutput) {
      const change = await isolate(faults, toSubject(swap), () => confirmDelivery(deps, heads, swap, event))
      if (change) seen.push(change)
    } else if (swap.state === 'delivering' && isOver) silent.push(swap)
  }
  await deps.moves.advanceAll(faults, 'move delivered', seen)
  await refundExpired(deps, lease, heads, silent, faults)
  throwFirst(faults)
}

/** A delivery may have been signed that the log does not contain: wait for it like a recorded one. */
async function expectForgotten(deps: ConfirmDeliveryDeps, faults: unknown[]): Promise<void> {
  const forgotten = await findForgottenDeliveries(deps.pool, deps.destination.chainId)
  const changes = forgotten.map((swap) => ({ swap, event: 'deliveryRecorded' }) as const)
  await deps.moves.advanceAll(faults, STEP, changes)
}

const STEP = 'confirm delivery'
const toSubject = ({ id }: Swap) => ({ step: STEP, id })

/** The change of a swap whose delivery is deep enough; undefined if it waits, or was settled before. */
async function confirmDelivery(
  deps: ConfirmDeliveryDeps,
  heads: Heads,
  swap: Swap,
  event: StoredEvent,
): Promise<Change | undefined> {
  const { pool } = deps
  const { txHash: deliveryTxHash, block: deliveredBlock, amount: delivered } = event
  if (swap.state !== 'delivering') await setDeliveredBlock(pool, swap, event)
  else if (isLate(deps, heads, swap, event))
    await setWaiting(pool, swap, waitingFor('lateDelivery', event.seenAt + hardSecondsOf(deps)))
  else if (isDeep(deps, heads, event))
    return { swap, event: 'deliverySeen', deliveryTxHash, deliveredBlock, delivered }
  return undefined
}

/** Not final, and too late to deliver again before the deadline if a reorg undoes it. */
function isLate(
  deps: ConfirmDeliveryDeps,
  { head, hard }: Heads,
  { op }: Swap,
  { block }: StoredEvent,
): boolean {
  const mayBeRepeated = op.fillDeadline - head.seconds > hardSecondsOf(deps) + REDELIVERY_SECONDS
  return !mayBeRepeated && block > hard.number
}

function isDeep({ rules }: ConfirmDeliveryDeps, heads: Heads, { block }: StoredEvent): boolean {
  return block <= blockAtDepth(rules, rules.settle, heads)
}

const hardSecondsOf = ({ rules, finalitySeconds }: ConfirmDeliveryDeps) =>
  Math.max(rules.hardSeconds, finalitySeconds() ?? 0)

/** Refunds swaps that a hard-final block past their deadline shows as undelivered: no delivery can follow. */
async function refundExpired(
  deps: ConfirmDeliveryDeps,
  lease: Lease,
  heads: Heads,
  swaps: readonly Swap[],
  faults: unknown[],
): Promise<void> {
  if (swaps.length === 0) return
  const { pool, destination } = deps
  const refused: unknown[] = []
  const undelivered = await destination.readUndelivered(
    swaps.map(({ op }) => op),
    heads.hard,
    refused,
  )
  faults.push(...refused)
  const { chainId } = destination
  const proof = { kind: 'notDeliveredPastDeadline', chainId, block: heads.hard } as const
  for (const swap of swaps) {
    if (undelivered.has(swap.op.hash))
      await isolate(faults, toSubject(swap), () =>
        decideRefund(deps, lease, swap, { refundReason: 'DELIVERY_EXPIRED', proof }),
      )
    // The chain shows a delivery without an event: a log was missed.
    else if (refused.length === 0) await rewindCursor(pool, { chainId, to: swap.op.destinationBlock - 1n })
  }
}

/**
 * Records deliveries in hard-final blocks that the vault's state at the final block confirms. Returns the events that
 * it contradicts, which a reorg undid unnoticed.
 */
export async function finalizeDeliveries(
  { pool, destination }: Pick<ConfirmDeliveryDeps, 'pool' | 'destination'>,
  heads: Heads,
  events: readonly StoredEvent[],
  faults: unknown[],
): Promise<ChainEvent[]> {
  if (events.length === 0) return []
  const ids = events.map(({ id }) => id)
  const swaps = new Map((await findSwapsByDelivery(pool, ids)).map((swap) => [swap.op.deliveryHash, swap]))
  const isWaiting = ({ id }: StoredEvent) => {
    const state = swaps.get(id)?.state
    return state !== undefined && isOpen(state)
  }
  const open = events.filter(isWaiting)
  const ops = open.flatMap(({ id }) => swaps.get(id)?.op ?? [])
  const { undelivered, unread } = await readEach(destination, ops, heads, faults)
  const hashOf = ({ id }: StoredEvent) => swaps.get(id)?.op.hash ?? ''
  const isMissing = (event: StoredEvent) => undelivered.has(hashOf(event))
  const paid = open.filter((event) => {
    const swap = swaps.get(event.id)
    return swap && isPaid(swap.state) && !isMissing(event) && !unread.has(hashOf(event))
  })
  const idOf = ({ id }: StoredEvent) => swaps.get(id)?.id ?? ''
  const toPaid = (event: StoredEvent) => ({ step: STEP, id: idOf(event) })
  const final = await isolateTogether(faults, paid, toPaid, async (some) => {
    failPoint('before deliveryFinal')
    await markDeliveriesFinal(
      pool,
      some.map((event) => ({ id: idOf(event), deliveryTxHash: event.txHash })),
    )
    failPoint('after deliveryFinal')
    return some
  })
  await closeEvents(pool, destination.chainId, [...events.filter((event) => !open.includes(event)), ...final])
  return open.filter(isMissing)
}

/** Reads all ops at once, and one by one if some fail, so that those do not block the others. */
async function readEach(
  destination: DestinationChain,
  ops: readonly Op[],
  { hard }: Heads,
  faults: unknown[],
): Promise<{ undelivered: ReadonlySet<string>; unread: ReadonlySet<string> }> {
  const unread = new Set<string>()
  if (ops.length === 0) return { undelivered: new Set(), unread }
  const refused: unknown[] = []
  const undelivered = new Set(await destination.readUndelivered(ops, hard, refused))
  if (refused.length === 0) return { undelivered, unread }
  for (const op of ops) {
    const found = await collectError(faults, () => destination.readUndelivered([op], hard))
    if (!found) unread.add(op.hash)
  }
  return { undelivered, unread }
}
