import { formatExact } from './amounts.ts'

/** The decimal mark of the user's language. */
export type DecimalMark = '.' | ','

export type ReadAmount =
  | { kind: 'amount'; amount: bigint }
  | { kind: 'empty' }
  | { kind: 'invalid' }
  /** Two meanings: each is written so that it has only one. */
  | { kind: 'ambiguous'; readings: readonly [string, string] }

type Reading = { decimals: number; mark: DecimalMark }

const MAX_LENGTH = 100
const WESTERN = /^\d{1,3}(?: \d{3})+$/
const INDIAN = /^\d{1,2}(?: \d{2})* \d{3}$/

/**
 * Reads whole tokens as people write them: 1000.5, 1,000.50, 1.000,50, 1 000,5, 1'000.5, 1,00,000. One comma
 * before three digits is a thousand to some and a fraction to others, so 1,000 is not read at all; nor is
 * 1.000 where the comma is the decimal mark. Never rounds.
 */
export function readAmount(text: string, { decimals, mark }: Reading): ReadAmount {
  const written = text.trim().replace(/\s/g, ' ').replace(/’/g, "'")
  if (written === '') return { kind: 'empty' }
  const [, head = '', point, tail = ''] = splitAtPoint(written)
  const whole = withoutGroups(head)
  if (whole === undefined || written.length > MAX_LENGTH) return { kind: 'invalid' }
  const isAmbiguous = /^[1-9]\d{0,2}$/.test(head) && tail.length === 3 && point !== undefined
  if (isAmbiguous && !(point === '.' && mark === '.')) {
    const fraction = toSmallest(head, tail, 3) ?? 0n
    return { kind: 'ambiguous', readings: [head + tail, writeAmount(fraction, { decimals: 3, mark })] }
  }
  const amount = toSmallest(whole, tail, decimals)
  return amount === undefined ? { kind: 'invalid' } : { kind: 'amount', amount }
}

/** All digits, in a form that `readAmount` reads as this amount. */
export function writeAmount(amount: bigint, { decimals, mark }: Reading): string {
  const text = formatExact(amount, decimals)
  return mark === ',' && /^[1-9]\d{0,2}\.\d{3}$/.test(text) ? `${text}0` : text
}

/** The last point or comma, if it occurs once, and what is before and after it. */
function splitAtPoint(written: string): readonly (string | undefined)[] {
  const found = /^(.*)([.,])(\d*)$/.exec(written)
  const [, head = '', point = ''] = found ?? []
  return found && !head.includes(point) ? found : [written, written]
}

/** The digits of a whole number, grouped by one kind of mark or not at all. */
function withoutGroups(text: string): string | undefined {
  if (/^\d*$/.test(text)) return text
  const [mark = ''] = /\D/.exec(text) ?? []
  if (!"., '".includes(mark)) return undefined
  const spaced = text.replaceAll(' ', '_').replaceAll(mark === ' ' ? '_' : mark, ' ')
  return WESTERN.test(spaced) || INDIAN.test(spaced) ? spaced.replaceAll(' ', '') : undefined
}

function toSmallest(whole: string, tail: string, decimals: number): bigint | undefined {
  const digits = tail.replace(/0+$/, '')
  if (whole + tail === '' || digits.length > decimals) return undefined
  return BigInt((whole || '0') + digits.padEnd(decimals, '0'))
}

export function markOf(language?: string): DecimalMark {
  const parts = new Intl.NumberFormat(language).formatToParts(1.5)
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.'
}

/** How this user writes fractions. */
export const decimalMark = markOf(globalThis.navigator?.language)
