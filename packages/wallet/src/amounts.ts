import { formatUnits } from 'viem'
import { UserError } from './errors.ts'

/** The fields of a token that amounts need. */
export type Unit = { symbol: string; decimals: number }

/** Converts whole tokens, as people write them, to the smallest unit. Never rounds. */
export function parseAmount(text: string, { symbol, decimals }: Unit): bigint {
  const [, whole, fraction = ''] = /^(\d{1,78})(?:\.(\d{1,78}))?$/.exec(text) ?? []
  if (whole === undefined) throw notAnAmount(text, 'Write digits, such as 10 or 0.25.')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > decimals) {
    const fitting = decimals === 0 ? whole : `${whole}.${fraction.slice(0, decimals)}`
    const message = `${symbol} has ${decimals} decimals, ${text} has ${digits.length}.`
    throw new UserError('BAD_AMOUNT', message, { advice: `Use ${fitting}, for example.` })
  }
  return assertPositive(BigInt(whole + digits.padEnd(decimals, '0')), text)
}

export function parseRawAmount(text: string): bigint {
  if (!/^\d{1,78}$/.test(text))
    throw notAnAmount(text, 'With --raw an amount is an integer in the smallest unit.')
  return assertPositive(BigInt(text), text)
}

/** All significant digits, without trailing zeros. */
export const formatAmount = formatUnits

const READ_DIGITS = 6
const READ_DECIMALS = 2

/** A decimal text in six significant digits, at least two of them decimals; the rest is cut off, or rounded up. */
export function readable(text: string, rounding: 'down' | 'up' = 'down'): string {
  const [whole = '', fraction = ''] = text.split('.')
  const leading = whole === '0' ? fraction.length - fraction.replace(/^0+/, '').length : -whole.length
  const kept = Math.max(READ_DECIMALS, READ_DIGITS + leading)
  if (fraction.length <= kept) return text
  const scaled = BigInt(whole + fraction.slice(0, kept))
  return formatAmount(rounding === 'up' ? scaled + 1n : scaled, kept)
}

/** To this many significant digits, never less than the amount. */
export function roundUp(amount: bigint, digits: number): bigint {
  const unit = 10n ** BigInt(Math.max(0, amount.toString().length - digits))
  return ((amount + unit - 1n) / unit) * unit
}

export function formatBps(bps: number): string {
  return `${(bps / 100).toFixed(2)} %`
}

function notAnAmount(text: string, advice: string): UserError {
  return new UserError('BAD_AMOUNT', `${text} is not an amount.`, { advice })
}

function assertPositive(amount: bigint, text: string): bigint {
  if (amount === 0n) throw notAnAmount(text, 'It has to be more than zero.')
  return amount
}
