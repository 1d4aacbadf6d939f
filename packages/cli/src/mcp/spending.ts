import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Attempt, isUsable, type Journal, standingOf } from '../store/journal.ts'
import { createJsonFile, damaged, isErrno, readJsonFile } from '../store/private-files.ts'

/** What an attempt may spend, written down before anything is signed for it. */
export type Spend = { attempt: string; cents: bigint; at: number }

export type Spending = ReturnType<typeof openSpending>

const DAY_MS = 24 * 3_600_000
const KEPT_MS = 2 * DAY_MS
const FILE = /^(\d{1,15})\.json$/

/**
 * What was spent, one file each: `<number>.json`. Whoever adds one creates the number after the last it has seen,
 * which of several processes one can do; the other looks again. So the sum that was checked is the sum that is.
 * What came of an attempt is in the journal: nothing has to be given back here.
 */
export function openSpending(folder: string, journal: Pick<Journal, 'list'>) {
  function read(): { last: number; spends: Spend[] } {
    const numbers = readNumbers(folder)
    const spends = numbers.flatMap((number) => readSpend(join(folder, `${number}.json`)) ?? [])
    return { last: Math.max(0, ...numbers), spends }
  }

  function sum(spends: readonly Spend[], now: number, except?: string): bigint {
    return sumSpent(spends, { now, except, attempts: journal.list() })
  }

  return {
    spentCents: (now = Date.now()): bigint => sum(read().spends, now),

    /** `check` sees what else was spent in the last 24 hours, and throws where this is too much on top of it. */
    add(attempt: string, cents: bigint, check: (spentCents: bigint) => void, now = Date.now()): void {
      for (;;) {
        const { last, spends } = read()
        check(sum(spends, now, attempt))
        const spend = { attempt, cents: cents.toString(), at: new Date(now).toISOString() }
        if (!createJsonFile(join(folder, `${last + 1}.json`), spend)) continue
        prune(folder, now)
        return
      }
    },
  }
}

type Seen = { now: number; except?: string | undefined; attempts: readonly Attempt[] }

/** Of the last 24 hours; an attempt that was quoted anew counts once, with the most that it was worth. */
export function sumSpent(spends: readonly Spend[], { now, except, attempts }: Seen): bigint {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  const most = new Map<string, bigint>()
  for (const { attempt, cents, at } of spends) {
    const counts = at > now - DAY_MS && attempt !== except && isSpent(byId.get(attempt), now)
    if (counts && cents > (most.get(attempt) ?? -1n)) most.set(attempt, cents)
  }
  return [...most.values()].reduce((total, cents) => total + cents, 0n)
}

/** Spent, until it is certain that it was not. That the input never left is certain when it can no longer leave. */
function isSpent(attempt: Attempt | undefined, now: number): boolean {
  if (attempt === undefined || isUsable(attempt, now)) return true
  if (attempt.stage === 'ended') return attempt.outcome === 'settled' || attempt.outcome === 'lost'
  return standingOf(attempt) !== 'free'
}

function readNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (FILE.test(name) ? [Number.parseInt(name, 10)] : []))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** Undefined when it was pruned since its name was read. */
function readSpend(path: string): Spend | undefined {
  const value = readJsonFile(path) as Record<'attempt' | 'cents' | 'at', unknown> | undefined
  if (value === undefined) return undefined
  const { attempt, cents, at } = value
  const time = Date.parse(String(at))
  if (typeof attempt !== 'string' || !/^\d+$/.test(String(cents)) || Number.isNaN(time)) throw damaged(path)
  return { attempt, cents: BigInt(String(cents)), at: time }
}

/** The last one stays, so that no number is used twice. */
function prune(folder: string, now: number): void {
  const numbers = readNumbers(folder).toSorted((a, b) => a - b)
  for (const number of numbers.slice(0, -1)) {
    const path = join(folder, `${number}.json`)
    if ((readSpend(path)?.at ?? now) < now - KEPT_MS) rmSync(path, { force: true })
  }
}
