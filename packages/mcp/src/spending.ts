import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Attempt, isUsable, type Journal, standingOf } from '@geoswap/wallet/store/journal'
import { createJsonFile, damaged, isErrno, readJsonFile } from '@geoswap/wallet/store/private-files'

/** The value an attempt may spend, recorded before anything is signed for it. */
type Spend = { attempt: string; cents: bigint; at: number }

export type Spending = ReturnType<typeof openSpending>

const DAY_MS = 24 * 3_600_000
const KEPT_MS = 2 * DAY_MS
const FILE = /^(\d{1,15})\.json$/

/**
 * Records of spending, one file each: `<number>.json`. A new record takes the number after the last one seen.
 * Only one process can create that file; the others read again, so the checked sum is always current. The
 * journal holds the outcome of each attempt, so nothing is subtracted here.
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
    /** The spending of the last 24 hours, without that attempt. */
    spentCents: (except?: string, now = Date.now()): bigint => sum(read().spends, now, except),

    /** `check` receives the other spending of the last 24 hours and throws if this would exceed the limit. */
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

/** Spending of the last 24 hours. An attempt that was requoted counts once, at its highest value. */
function sumSpent(spends: readonly Spend[], { now, except, attempts }: Seen): bigint {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]))
  const most = new Map<string, bigint>()
  for (const { attempt, cents, at } of spends) {
    const counts = at > now - DAY_MS && attempt !== except && isSpent(byId.get(attempt), now)
    if (counts && cents > (most.get(attempt) ?? -1n)) most.set(attempt, cents)
  }
  return [...most.values()].reduce((total, cents) => total + cents, 0n)
}

/** Counts as spent until the opposite is certain: the input cannot leave the wallet any more. */
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

/** Undefined if the file was pruned after it was listed. */
function readSpend(path: string): Spend | undefined {
  const value = readJsonFile(path) as Record<'attempt' | 'cents' | 'at', unknown> | undefined
  if (value === undefined) return undefined
  const { attempt, cents, at } = value
  const time = Date.parse(String(at))
  if (typeof attempt !== 'string' || !/^\d+$/.test(String(cents)) || Number.isNaN(time)) throw damaged(path)
  return { attempt, cents: BigInt(String(cents)), at: time }
}

/** Keeps the record that was just created, so that no number is used twice. */
function prune(folder: string, now: number): void {
  for (const number of readNumbers(folder)) {
    const path = join(folder, `${number}.json`)
    if ((readSpend(path)?.at ?? now) < now - KEPT_MS) rmSync(path, { force: true })
  }
}
