import type { FailPoint } from '../../packages/service/src/fail-point.ts'
import { delay } from '../bench/clock.ts'
import { causeFault } from './nemesis.ts'
import type { NemesisEvent } from './plan.ts'
import type { RunContext } from './run-context.ts'

// Creates the conditions of a fail-point until it was reached, however slow the machine is.

type Direction = {
  field: RunContext
  /** Whether each of these has ended a process. */
  isSeen(...points: FailPoint[]): boolean
  isOver(): boolean
  /** Whether transitions are required as well. */
  isLong: boolean
}

const LOOK_MS = 100
const AGAIN_MS = 3_000
// Until a sent lock is in a block; until its absence was noticed.
const LANDED_MS = 900
const MISSED_MS = 1_500
// Longer than the remaining time of any lock of the gate.
const JUMP_SECONDS = 100
const PAUSE_MS = 4_000
const CRASHES_BEFORE_KILLS = 8

export async function direct(direction: Direction): Promise<void> {
  await Promise.all([loseLocks(direction), loseDeliveries(direction), undoLocks(direction), kill(direction)])
}

const HOLE_MS = 25_000
// Longer than the remaining time of any delivery.
const LATE_SECONDS = 250

/**
 * For runs that require more than fail-points: lost deliveries are burnt and repeated, or end up too late.
 */
async function loseDeliveries(direction: Direction): Promise<void> {
  if (!direction.isLong) return
  for (let turn = 0; !direction.isOver(); turn += 1) {
    const end = direction.field.proxyOf('beta').cast({ kind: 'blackHole', role: 'deliver' })
    await pass(direction, HOLE_MS)
    if (turn % 2 === 1)
      await act(direction, { kind: 'halt', chain: 'beta', ms: 0, jumpSeconds: LATE_SECONDS })
    await pass(direction, AGAIN_MS)
    end()
    await pass(direction, AGAIN_MS)
  }
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
  await again(direction, isDead, { kind: 'halt', chain: 'alpha', ms: 0, jumpSeconds: JUMP_SECONDS })
  end()
  // A burnt lock with time left is locked again.
  if (direction.isLong)
    await again(direction, direction.isOver, { kind: 'blackHole', chain: 'alpha', role: 'lock', ms: HOLE_MS })
}

/**
 * A swap that waits for the finality of its lock finds it gone, and the repeated lock comes too late to hide
 * that.
 */
async function undoLocks(direction: Direction): Promise<void> {
  const { field, isSeen, isOver } = direction
  while (!isSeen('before lockLost', 'after lockLost') && !isOver()) {
    if (!(await isLocking(field))) {
      await delay(LOOK_MS)
      continue
    }
    const undone = act(direction, { kind: 'reorg', chain: 'beta', depth: 3, keeps: false })
    await pass(direction, LANDED_MS)
    const end = field.proxyOf('beta').cast({ kind: 'blackHole', role: 'lock' })
    await undone
    await pass(direction, MISSED_MS)
    end()
    // Chains that are reverted all the time make no progress, and neither does a service.
    if (direction.isLong) await pass(direction, PAUSE_MS)
  }
}

/** A lock is pending and will be in one of the reverted blocks. A database that is down reports none. */
async function isLocking({ pool, network }: RunContext): Promise<boolean> {
  const beta = network.local.chains.find(({ name }) => name === 'beta')
  const found = await pool
    .query(`select 1 from swaps where state = 'locking' and origin_chain = $1 limit 1`, [beta?.chainId])
    .catch(() => ({ rowCount: 0 }))
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

async function again(direction: Direction, isDone: () => boolean, what: Act): Promise<void> {
  while (!isDone() && !direction.isOver()) {
    await act(direction, what)
    const next = Date.now() + AGAIN_MS
    await until(direction, () => isDone() || Date.now() > next)
  }
}

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
