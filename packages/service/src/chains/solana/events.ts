import { collectError } from '../../swap/group.ts'
import type { Op } from '../../swap/swap.ts'
import type { ChainEvent, EventPage, Watched } from '../chain.ts'
import { findDeliveries } from './deliveries.ts'
import type { SolanaBlock } from './heads.ts'
import { type Landing, readLandings } from './history.ts'
import { findExit, findHeld, findRecordedExit, searchInput } from './locks.ts'
import type { SolanaParts } from './parts.ts'

type Depths = { head: SolanaBlock; hard: SolanaBlock }

type Query = { watched(): Promise<Watched>; depths: Depths; faults: unknown[] | undefined }

// How often nodes are asked for more than is expected: an input that a transaction missing in the record took, and a
// transaction that a fork moved to another slot. Less than the time to finality.
const SEARCH_MS = 5_000

/** Finds the events that the chain shows at a head, of the ops that are watched. */
export function createEventFinder(parts: SolanaParts, now = () => performance.now()) {
  let searchedAt = Number.NEGATIVE_INFINITY
  let landed = new Map<string, Landing>()
  return async ({ watched, depths, faults }: Query): Promise<EventPage> => {
    const isSearchDue = now() - searchedAt >= SEARCH_MS
    if (isSearchDue) {
      searchedAt = now()
      landed = new Map()
    }
    return readEvents(parts, await watched(), depths, { isSearchDue, landed, faults })
  }
}

/** `landed`: transactions of deliveries that nodes are not asked about again. */
type Reading = { isSearchDue: boolean; landed: Map<string, Landing>; faults: unknown[] | undefined }

async function readEvents(
  parts: SolanaParts,
  { locks, exits, deliveries }: Watched,
  { head, hard }: Depths,
  { isSearchDue, landed, faults }: Reading,
): Promise<EventPage> {
  const paid = deliveries.map((op) => ({ op }))
  const [locked, closed, delivered] = await Promise.all([
    findLocked(parts, locks, head, { isSearchDue, faults }),
    findExited(parts, exits, head, faults),
    findDeliveries(parts, paid, { head, hard }, faults, landed),
  ])
  const events = [...locked, ...closed]
  for (const op of deliveries) {
    const { txHash, block, amount } = delivered.get(op.hash) ?? {}
    if (txHash === undefined || block === undefined || amount === undefined) continue
    events.push({ kind: 'delivered', id: op.deliveryHash, txHash, block, blockHash: '', amount })
  }
  return { events, to: head.number, isComplete: false }
}

/**
 * An input is locked if its recorded transaction landed, even if it has left again. Otherwise its account is read, and
 * the history of an account that holds it: always for an op without a recorded transaction, for others at times.
 */
async function findLocked(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  { isSearchDue, faults }: Pick<Reading, 'isSearchDue' | 'faults'>,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const ids = ops.map(({ hash }) => hash)
  const signed = await parts.findSigned('input', ids)
  const recorded = await readLandings(parts.client.agreed, [...signed.values()].flat(), head.commitment)
  const landingOf = ({ hash }: Op) => signed.get(hash)?.flatMap((txHash) => recorded.get(txHash) ?? [])[0]
  const isRecorded = ({ hash }: Op) => (signed.get(hash)?.length ?? 0) > 0
  const sought = ops.filter((op) => !landingOf(op) && (isSearchDue || !isRecorded(op)))
  const held = await findHeld(parts, sought, head)
  const found = await Promise.all(
    ops.map((op) =>
      collectError(faults, async () => {
        const landing = landingOf(op) ?? (held.has(op) ? await searchInput(parts, op, head) : undefined)
        return landing && toEvent('locked', op.hash, landing)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

async function findExited(
  parts: SolanaParts,
  ops: readonly Op[],
  head: SolanaBlock,
  faults: unknown[] | undefined,
): Promise<ChainEvent[]> {
  if (ops.length === 0) return []
  const ids = ops.map(({ hash }) => hash)
  const [held, signed] = await Promise.all([findHeld(parts, ops, head), parts.findSigned('exit', ids)])
  const landed = await readLandings(parts.client.agreed, [...signed.values()].flat(), head.commitment)
  const landedOf = ({ hash }: Op) => signed.get(hash)?.filter((txHash) => landed.has(txHash)) ?? []
  // After an exit anybody can fill the account again.
  const gone = ops.filter((op) => !held.has(op) || landedOf(op).length > 0)
  const found = await Promise.all(
    gone.map((op) =>
      collectError(faults, async () => {
        const exit = held.has(op)
          ? await findRecordedExit(parts, op, head, landedOf(op))
          : await findExit(parts, op, head, signed.get(op.hash))
        return exit && toEvent(exit.kind, op.hash, exit)
      }),
    ),
  )
  return found.flatMap((event) => event ?? [])
}

function toEvent(kind: ChainEvent['kind'], id: string, { txHash, slot }: Landing): ChainEvent {
  return { kind, id, txHash, block: slot, blockHash: '' }
}
