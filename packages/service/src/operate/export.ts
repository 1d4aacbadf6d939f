import { once } from 'node:events'
import { type Output, UsageError } from '../command.ts'
import type { Period } from '../store/exports.ts'

export const PERIOD_OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  format: { type: 'string' },
} as const

const DATE = /^\d{4}-\d\d-\d\d$/

/** Whole days of UTC; the last one is not part of it. */
export function parsePeriod({ from, to }: { from?: string; to?: string }): Period {
  if (from === undefined || to === undefined)
    throw new UsageError('Options missing: --from 2026-07-01 --to 2026-08-01 is the July of 2026.')
  const period = { from: parseDay(from), to: parseDay(to) }
  if (period.from >= period.to)
    throw new UsageError('--to must be later than --from: it is the first day left out.')
  return period
}

function parseDay(text: string): Date {
  const day = new Date(`${text}T00:00:00.000Z`)
  if (DATE.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)) return day
  throw new UsageError(`${text} is not a day. Write it as 2026-07-01.`)
}

export function parseFormat<const Format extends string>(
  formats: readonly Format[],
  text: string | undefined,
): Format {
  const found = formats.find((format) => format === text)
  if (found !== undefined) return found
  throw new UsageError(`--format must be ${formats.join(' or ')}.`)
}

const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/
const FORMULA = /^[=+\-@\t\r]/

/** A line of RFC 4180. A spreadsheet runs text that begins like a formula: an apostrophe makes it text again. */
export function toCsvLine(cells: readonly unknown[]): string {
  return cells.map(toCell).join(',')
}

function toCell(value: unknown): string {
  const text = toText(value)
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.join(' ') : String(value)
}

/** Writes pages one after the other, and waits for a reader who is slower than the database. */
export async function writePages<T>(
  output: Output,
  pages: AsyncIterable<readonly T[]>,
  toLines: (page: readonly T[]) => readonly string[],
): Promise<void> {
  for await (const page of pages) {
    const lines = toLines(page)
    if (lines.length > 0) output.out(lines.join('\n'))
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
  }
}
