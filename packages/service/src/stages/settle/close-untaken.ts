import type { Pool } from 'pg'
import { atMostEvery } from '../../async/timing.ts'
import type { Heads, LockRef } from '../../chains/chain.ts'
import type { Closing } from '../../chains/family.ts'
import type { Sender } from '../../engine/sender.ts'
import { mapIsolated } from '../../isolate.ts'
import type { Lease } from '../../store/lanes.ts'
import { findUntaken, isSweepOpen } from '../../store/sweeps.ts'
import { throwFirst } from '../../swap/group.ts'

export type CloseDeps = {
  pool: Pool
  chainId: number
  sender: Pick<Sender, 'address' | 'room' | 'send'>
  closing: Closing
  /** How often each account was tried to be closed. */
  tries: Map<string, number>
}

// A wallet that keeps its own account closed for longer keeps the rent from us. It was counted as wasted.
const WATCHED_SECONDS = 2 * 86_400
const READ_AT_ONCE = 100
const MAX_CLOSES = 5
// A wallet decides whether a refund can be paid to it: one that refuses must not cost fees again and again, nor hold up
// the accounts behind it.
const MAX_TRIES = 3
const MAX_KNOWN = 10_000

/**
 * Closes the accounts of payments that were not taken, once anyone may: their rent returns. Reads one page, after the
 * given refund deadline. Returns where the next begins; undefined at the end.
 */
export async function closeUntaken(
  { pool, chainId, sender, closing, tries }: CloseDeps,
  lease: Lease,
  heads: Heads,
  next?: number,
): Promise<number | undefined> {
  if (sender.room() === 0 || (await isSweepOpen(pool, { chainId, sender: sender.address }))) return next
  const { seconds } = heads.hard
  const range = { after: Math.max(next ?? 0, seconds - WATCHED_SECONDS), upTo: seconds - 1 }
  const untaken = await findUntaken(pool, { chainId, ...range, limit: READ_AT_ONCE })
  const most = Math.min(MAX_CLOSES, sender.room())
  let closed = 0
  const close = async (op: LockRef) => {
    const tried = tries.get(op.hash) ?? 0
    if (tried >= MAX_TRIES || closed >= most || !(await closing.isClosable(op, heads.hard)) || closed >= most)
      return
    closed += 1
    tries.set(op.hash, tried + 1)
    const request = closing.planClose(op)
    await sender.send(lease, heads, { role: 'sweep', request, swapIds: [], record: async () => true })
  }
  const faults: unknown[] = []
  await mapIsolated(faults, untaken, ({ hash }) => ({ step: 'close untaken', id: hash }), close)
  throwFirst(faults)
  for (const oldest of tries.keys()) {
    if (tries.size <= MAX_KNOWN) break
    tries.delete(oldest)
  }
  if (closed >= most) return next
  return untaken.length < READ_AT_ONCE ? undefined : untaken.at(-1)?.refundDeadline
}

const LOOK_MS = 60_000

export function createCloseWork(deps: Omit<CloseDeps, 'tries'>) {
  let next: number | undefined
  const tries = new Map<string, number>()
  const look = atMostEvery(LOOK_MS, async (lease: Lease, heads: Heads) => {
    next = await closeUntaken({ ...deps, tries }, lease, heads, next)
  })
  return {
    topics: [],
    run: async (lease: Lease, heads?: Heads) => {
      if (heads) await look(lease, heads)
      return true
    },
  }
}
