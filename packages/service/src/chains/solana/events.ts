import { collectError } from '../../model/collect-error.ts'
import type { Op } from '../../model/swap.ts'
import type { ChainEvent, EventPage, Watched } from '../chain.ts'
import type { SolanaBlock } from './blocks.ts'
import { findDeliveries } from './deliveries.ts'
import { findExit } from './exits.ts'
import { findInHistory } from './history.ts'
import { isInputOf } from './input-terms.ts'
import { type Landing, readLandings } from './landings.ts'
import { findHeld } from './locks.ts'
import type { SolanaParts } from './parts.ts'

type Depths = { head: SolanaBlock; hard: SolanaBlock }

/** The events that the accounts of the watched ops show at this head. */
export async function findEvents(
  parts: SolanaParts,
  watched: () => Promise<Watched>,
  { head, hard }: Depths,
  faults?: unknown[],
): Promise<EventPage> {
  const { locks, exits, deliveries } = await watched()
  const paid = deliveries.map((op) => ({ op }))
  const [locked, closed, delivered] = await Promise.all([
    findLocked(parts, locks, head, faults),
    findExited(parts, exits, head, faults),
    findDeliveries(parts, paid, { head, hard }, faults),
  ])
  const events = [...locked, ...closed]
  for (const op of deliveries) {
    const { txHash, block, amount } = delivered.get(op.hash) ?? {}
    if (txHash === undefined || block === undefined || amount === undefined) continue
    events.push({ kind: 'delivered', id: op.deliveryHash, txHash, block, blockHash: '', amount })
  }
  return { events, to: head.number, isComplete: false }
}

/** An input that was taken and has left again is locked as well: its recorded transaction landed. */
async function findLocked(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  faults: unknown[] | undefined,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const ids = ops.map(({ hash }) => hash)
  const [held, signed] = await Promise.all([findHeld(parts, ops, head), parts.findSigned('input', ids)])
  const recorded = await readLandings(parts.client.agreed, [...signed.values()].flat(), head.commitment)
  const found = await Promise.all(
    ops.map((op) =>
      collectError(faults, async () => {
        const known = signed.get(op.hash)?.flatMap((txHash) => recorded.get(txHash) ?? [])[0]
        const landing = known ?? (held.has(op) ? await searchInput(parts, op, head) : undefined)
        return landing && toEvent('locked', op.hash, landing)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

/** The transaction that took an input, which the record lacks. */
async function searchInput(
  parts: SolanaParts,
  op: Op,
  { commitment, number: minContextSlot }: SolanaBlock,
): Promise<Landing | undefined> {
  const { client, settings, addresses } = parts
  const query = {
    commitment,
    minContextSlot,
    program: settings.program,
    address: await addresses.inputOf(op),
  }
  return findInHistory(client.agreed, query, async (transaction) => {
    const { txHash, slot } = transaction
    return (await isInputOf(parts, op, transaction)) ? { txHash, slot } : undefined
  })
}

async function findExited(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  faults: unknown[] | undefined,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const held = await findHeld(parts, ops, head)
  const gone = ops.filter((op) => !held.has(op))
  if (gone.length === 0) return []
  const ids = gone.map(({ hash }) => hash)
  const signed = await parts.findSigned('exit', ids)
  const found = await Promise.all(
    gone.map((op) =>
      collectError(faults, async () => {
        const exit = await findExit(parts, op, head, signed.get(op.hash))
        return exit && toEvent(exit.kind, op.hash, exit)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

function toEvent(kind: ChainEvent['kind'], id: string, { txHash, slot }: Landing): ChainEvent {
  return { kind, id, txHash, block: slot, blockHash: '' }
}
