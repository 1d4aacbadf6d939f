import type { QuoteReply } from '@geoswap/sdk'
import { formatUnits as formatNumber } from 'viem'

/** The fields of a token that amounts need. */
export type Unit = { symbol: string; decimals: number }

/** All significant digits, without trailing zeros. */
export const formatExact = formatNumber

const SHOWN_DIGITS = 6

/** For reading, not copying: grouped, and cut after six significant digits. Cutting rounds down. */
export function formatAmount(amount: bigint, decimals: number): string {
  if (amount < 0n) return `−${formatAmount(-amount, decimals)}`
  const [whole = '0', fraction = ''] = formatExact(amount, decimals).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  const kept = whole === '0' ? zeros + SHOWN_DIGITS : Math.max(2, SHOWN_DIGITS - whole.length)
  const shown = fraction.slice(0, kept).replace(/0+$/, '')
  return `${grouped}${shown && `.${shown}`}`
}

export function formatUnits(amount: bigint | string, unit: Unit): string {
  return `${formatAmount(BigInt(amount), unit.decimals)} ${unit.symbol}`
}

/** The price of one unit of the first token in the second, derived from this trade. */
export function rateOf(
  paid: { amount: bigint; decimals: number },
  got: { amount: bigint; decimals: number },
): bigint {
  if (paid.amount === 0n) return 0n
  return (got.amount * 10n ** BigInt(paid.decimals)) / paid.amount
}

export function formatBps(bps: number): string {
  return `${(bps / 100).toFixed(2)} %`
}

/** The ends of an address or hash: enough to tell two apart at a glance, not enough to trust. */
export function shorten(text: string): string {
  return text.length <= 16 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`
}

// Hundredths of a cent: fees of a small swap are parts of a cent.
const USD_DIGITS = 4

/** Reads a decimal text such as `12.50` to hundredths of a cent. Undefined if there is none. */
export function readUsd(text: string | undefined): bigint | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text ?? '') ?? []
  if (whole === '') return undefined
  const value = BigInt(whole + fraction.slice(0, USD_DIGITS).padEnd(USD_DIGITS, '0'))
  return sign === '' ? value : -value
}

/** Dollars with at least two decimals, and more only where cents would hide the value. */
export function formatUsd(value: bigint): string {
  if (value < 0n) return `−${formatUsd(-value)}`
  const digits = value.toString().padStart(USD_DIGITS + 1, '0')
  const whole = digits.slice(0, -USD_DIGITS).replace(/\B(?=(\d{3})+$)/g, ',')
  return `$${whole}.${digits.slice(-USD_DIGITS).replace(/0{1,2}$/, '')}`
}

/** The value of an amount of the input token, by the quote's own value of the whole input. */
export function feeUsd(
  amount: string,
  { input, inputUsd }: Pick<QuoteReply, 'input' | 'inputUsd'>,
): bigint | undefined {
  const whole = readUsd(inputUsd)
  if (whole === undefined || BigInt(input) === 0n) return undefined
  return divideRounded(BigInt(amount) * whole, BigInt(input))
}

/** The value of an amount by the indicative price of its token, to the cent. */
export function usdOf(
  amount: bigint,
  { decimals, priceUsd }: Pick<Unit, 'decimals'> & { priceUsd?: string | undefined },
): bigint | undefined {
  const price = readUsd(priceUsd)
  if (price === undefined) return undefined
  const cent = 10n ** BigInt(USD_DIGITS - 2)
  return divideRounded(amount * price, 10n ** BigInt(decimals) * cent) * cent
}

function divideRounded(value: bigint, by: bigint): bigint {
  const half = value < 0n ? -by / 2n : by / 2n
  return (value + half) / by
}
