import type { Op } from '../../model/swap.ts'
import type { ChainEvent, EventPage, Watched } from '../chain.ts'
import type { SolanaBlock } from './blocks.ts'
import { findDeliveries } from './deliveries.ts'
import { exitRef, inputRef } from './locks.ts'
import { type Creation, findEach, type MarkerRef } from './marker-book.ts'
import type { SolanaParts } from './parts.ts'

/** The events that the markers of the watched ops show at this head. */
export async function findEvents(
  parts: SolanaParts,
  watched: () => Promise<Watched>,
  { head, hard }: { head: SolanaBlock; hard: SolanaBlock },
  faults?: unknown[],
): Promise<EventPage> {
  const { locks, exits, deliveries } = await watched()
  const find = (refOf: (parts: SolanaParts, op: Op) => MarkerRef, ops: readonly Op[]) => {
    const refs = new Map(ops.map((op) => [op, refOf(parts, op)]))
    const at = { commitment: head.commitment, minContextSlot: head.number }
    return findEach(parts.markers, refs, at, faults)
  }
  const [inputs, closed, paid] = await Promise.all([
    find(inputRef, locks),
    find(exitRef, exits),
    findDeliveries(parts, deliveries, { head, hard }, faults),
  ])
  const events: ChainEvent[] = []
  for (const [op, creation] of inputs) if (creation) events.push(toEvent('locked', op.hash, creation))
  const inventory = closed.size > 0 ? await parts.facts.inventoryAccounts() : new Set<string>()
  for (const [op, creation] of closed) if (creation) events.push(toExit(inventory, op, creation))
  for (const op of deliveries) {
    const delivered = paid.get(op.hash)
    if (!delivered) continue
    const { txHash, block, amount } = delivered
    events.push({ kind: 'delivered', id: op.deliveryHash, txHash, block, blockHash: '', amount })
  }
  return { events, to: head.number, isComplete: false }
}

function toEvent(kind: ChainEvent['kind'], id: string, { txHash, slot }: Creation): ChainEvent {
  return { kind, id, txHash, block: slot, blockHash: '' }
}

function toExit(inventory: ReadonlySet<string>, { hash }: Op, creation: Creation): ChainEvent {
  return toEvent(inventory.has(creation.paidTo) ? 'claimed' : 'refunded', hash, creation)
}
