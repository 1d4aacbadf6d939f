import type { FailPoint } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import { patience } from '../patience.ts'
import { causeFault } from './nemesis.ts'
import type { EvmChainName, NemesisEvent } from './plan.ts'
import { reorg } from './reorg.ts'
import { blocksOf, inTurn, type RunContext } from './run-context.ts'

// Creates the conditions of a fail-point until it was reached, however slow the machine is.

type Direction = {
  field: RunContext
  /** Whether each of these has ended a process. */
  isSeen(...points: FailPoint[]): boolean
  isOver(): boolean
  /** Whether transitions are required as well. */
  isLong: boolean
  /** Longer than the remaining time of any lock. */
  jumpSeconds: number
}

const LOOK_MS = 100
const AGAIN_MS = 3_000
// Less than the service's finality.
const DEPTH = 3
// Until a lock was noticed, at most: the transaction of some never is.
const SEEN_MS = 15_000 * patience
// Until the absence of a lock was noticed, at most: the worker that would notice it has often just ended.
const MISSED_MS = 15_000 * patience
const PAUSE_MS = 4_000
const CRASHES_BEFORE_KILLS = 8

export async function direct(direction: Direction): Promise<void> {
  const losses = direction.isLong
    ? [loseSome(direction, 'alpha', 'lock'), loseSome(direction, 'beta', 'deliver')]
    : [loseLocks(direction)]
  await Promise.all([...losses, undoLocks(direction), kill(direction)])
}

// Until this many were burnt and sent again, and the most time for it. A no-op that burns one is lost too, so a swap
// needs time for another lock afterwards.
const REPEATED = 3
const HOLE_MS = { lock: 45_000, deliver: 25_000 }
// For swaps of the chain to pass.
const BETWEEN_HOLES_MS = 12_000

/**
 * For runs that require more than fail-points: lost transactions are burnt and repeated, or end up too late.
 */
async function loseSome(direction: Direction, chain: EvmChainName, role: 'lock' | 'deliver'): Promise<void> {
  for (let turn = 0; !direction.isOver(); turn += 1) {
    const end = direction.field.proxyOf(chain).cast({ kind: 'blackHole', role })
    direction.field.ledger.fault('blackHole')
    const before = await countRepeated(direction.field, role)
    const last = Date.now() + HOLE_MS[role]
    const isRepeated = async () => (await countRepeated(direction.field, role)) >= before + REPEATED
    while (Date.now() < last && !direction.isOver() && !(await isRepeated())) await pass(direction, AGAIN_MS)
    if (turn % 2 === 1)
      await act(direction, { kind: 'halt', chain, ms: 0, jumpSeconds: direction.jumpSeconds })
    await pass(direction, AGAIN_MS)
    end()
    await pass(direction, BETWEEN_HOLES_MS)
  }
}

/** Swaps with transactions of two nonces in this role. A database that is down reports none. */
async function countRepeated({ pool }: RunContext, role: string): Promise<number> {
  const repeated = `select l.swap_id from attempt_swaps l join tx_attempts a on a.id = l.attempt_id
     where l.role = $1 group by 1 having count(distinct (a.sender, a.nonce)) > 1`
  const found = await pool.query(repeated, [role]).catch(() => undefined)
  return found?.rowCount ?? 0
}

/** Loses locks on alpha until their nonces are burnt; then moves its clock past their deadlines. */
async function loseLocks(direction: Direction): Promise<void> {
  const { field, isSeen } = direction
  const end = field.proxyOf('alpha').cast({ kind: 'blackHole', role: 'lock' })
  field.ledger.fault('blackHole')
  await until(direction, () =>
    isSeen(
      ...(['before record replacement', 'after record replacement', 'after broadcast replacement'] as const),
      ...(['before record noop', 'after record noop', 'after broadcast noop'] as const),
    ),
  )
  const isDead = () => isSeen('before lockDead', 'after lockDead')
  while (!isDead() && !direction.isOver()) {
    await jump(direction)
    const next = Date.now() + AGAIN_MS
    await until(direction, () => isDead() || Date.now() > next)
  }
  end()
}

/** Time passes on alpha once no delivery there can be undone; so nobody comes meanwhile. */
async function jump(direction: Direction): Promise<void> {
  const { admission } = direction.field
  admission.isClosed = true
  await act(direction, { kind: 'halt', chain: 'alpha', ms: 0, jumpSeconds: direction.jumpSeconds })
  admission.isClosed = false
}

/**
 * A swap that waits for the finality of its lock finds it gone, and the repeated lock comes too late to hide
 * that.
 */
async function undoLocks(direction: Direction): Promise<void> {
  const { field, isSeen, isOver, isLong } = direction
  while (!isSeen('before lockLost', 'after lockLost') && !isOver()) {
    await inTurn(field.turns, blocksOf('beta'), () => undoLock(direction)).catch((error: unknown) =>
      field.ledger.fault('notDone', { why: String(error) }),
    )
    // Chains that are reverted all the time make no progress, and neither does a service.
    if (isLong) await pass(direction, PAUSE_MS)
  }
}

async function undoLock(direction: Direction): Promise<void> {
  const { world, ledger, proxyOf, random } = direction.field
  const chain = world.chainNamed('beta')
  const { raws, cast } = proxyOf('beta')
  const ends: (() => void)[] = []
  let isSeen = async () => false
  const undone = await reorg({
    ...{ chain, depth: DEPTH, deepest: DEPTH, keeps: false, raws, random },
    isDue: (hashes) =>
      isAny(direction.field, `tx_attempts where role = 'lock' and tx_hash = any($1)`, [hashes]),
    async beforeRevert(block) {
      const waiting = `swaps where state = 'locked' and origin_chain = $1 and locked_block > $2`
      isSeen = () => isAny(direction.field, waiting, [chain.chainId, block.toString()])
      await within(SEEN_MS, isSeen)
      ends.push(cast({ kind: 'blackHole', role: 'lock' }))
    },
  })
  if (undone) {
    ledger.fault('reorged', { chain: 'beta', ...undone })
    await within(MISSED_MS, async () => direction.isOver() || !(await isSeen()))
  }
  for (const end of ends) end()
}

async function within(ms: number, isDone: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + ms
  while (Date.now() < end && !(await isDone())) await delay(LOOK_MS)
}

/** Whether there is such a row. A database that is down has none. */
async function isAny({ pool }: RunContext, rows: string, values: unknown[]): Promise<boolean> {
  const found = await pool.query(`select 1 from ${rows} limit 1`, values).catch(() => ({ rowCount: 0 }))
  return found.rowCount === 1
}

/** Kills each once, in the middle of the run. */
async function kill(direction: Direction): Promise<void> {
  const { field } = direction
  const crashed = () => [...field.processes.crashes.values()].reduce((sum, count) => sum + count, 0)
  await until(direction, () => crashed() > CRASHES_BEFORE_KILLS)
  await act(direction, { kind: 'killDatabase' })
  await until(direction, () => crashed() > 2 * CRASHES_BEFORE_KILLS)
  await act(direction, { kind: 'kill', role: 'api', index: 0 })
  await act(direction, { kind: 'solanaDelays', count: 3, slots: 30 })
}

type Act = NemesisEvent extends infer Event
  ? Event extends { at: number }
    ? Omit<Event, 'at'>
    : never
  : never

async function act({ field }: Direction, what: Act): Promise<void> {
  await causeFault({ ...field, wait: delay }, { at: 0, ...what } as NemesisEvent)
}

async function pass(direction: Direction, ms: number): Promise<void> {
  const end = Date.now() + ms
  await until(direction, () => Date.now() > end)
}

async function until({ isOver }: Direction, isDone: () => boolean): Promise<void> {
  while (!isDone() && !isOver()) await delay(LOOK_MS)
}
