import type { QuoteReply } from '@geoswap/sdk'
import type { Unit } from './amounts.ts'

// Hundredths of a cent: fees of a small swap are parts of a cent.
const DIGITS = 4

/** Reads a decimal text such as `12.50` to hundredths of a cent. Undefined if there is none. */
export function readUsd(text: string | undefined): bigint | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text ?? '') ?? []
  if (whole === '') return undefined
  const value = BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'))
  return sign === '' ? value : -value
}

/** Dollars with at least two decimals, and more only where cents would hide the value. */
export function formatUsd(value: bigint): string {
  if (value < 0n) return `−${formatUsd(-value)}`
  const digits = value.toString().padStart(DIGITS + 1, '0')
  const whole = digits.slice(0, -DIGITS).replace(/\B(?=(\d{3})+$)/g, ',')
  return `$${whole}.${digits.slice(-DIGITS).replace(/0{1,2}$/, '')}`
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
  const cent = 10n ** BigInt(DIGITS - 2)
  return divideRounded(amount * price, 10n ** BigInt(decimals) * cent) * cent
}

function divideRounded(value: bigint, by: bigint): bigint {
  const half = value < 0n ? -by / 2n : by / 2n
  return (value + half) / by
}
