/** Money arithmetic: bigint in the smallest unit. Function names state the rounding direction. */

/** A price in USD per whole token, scaled by 10^18. */
export type PriceE18 = bigint

export type Priced = { decimals: number; price: PriceE18 }

export const MAX_UINT256 = (1n << 256n) - 1n

/** A fee is an integer of hundredths of a basis point: 12.5 bps is 1,250. */
export const CENTI_BPS = 1_000_000n

export const BPS = 10_000n

export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

const POWERS = Array.from({ length: 80 }, (_, exponent) => 10n ** BigInt(exponent))

export const tenTo = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent)

/** Scales an integer price with `decimals` decimals to 18, rounded down. `decimals` may be negative. */
export function toPriceE18Down(value: bigint, decimals: number): PriceE18 {
  return decimals <= 18 ? value * tenTo(18 - decimals) : value / tenTo(decimals - 18)
}

/** The amount of `to` that equals `amount` of `from` in value, rounded down. */
export function convertDown(amount: bigint, from: Priced, to: Priced): bigint {
  return (amount * from.price * tenTo(to.decimals)) / (to.price * tenTo(from.decimals))
}

/** The amount of `to` that equals `amount` of `from` in value, rounded up. */
export function convertUp(amount: bigint, from: Priced, to: Priced): bigint {
  return divideUp(amount * from.price * tenTo(to.decimals), to.price * tenTo(from.decimals))
}

/** The USD value scaled by 10^18, rounded down. */
export function usdE18(amount: bigint, token: Priced): bigint {
  return (amount * token.price) / tenTo(token.decimals)
}

/** Whole tokens with their symbol, for people: `1,234.5 USDC`. All significant digits. */
export function formatUnits(
  amount: bigint,
  { decimals, symbol }: { decimals: number; symbol: string },
): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${whole}${fraction && `.${fraction}`} ${symbol}`
}

/** For people and machines: `1,234.5 USDC (1234500000)`. */
export function formatBoth(amount: bigint, token: { decimals: number; symbol: string }): string {
  return `${formatUnits(amount, token)} (${amount})`
}

const CENT_E18 = tenTo(16)

/** A USD value in cents, rounded to the nearest cent. */
export function toCents(valueE18: bigint): bigint {
  return (valueE18 + CENT_E18 / 2n) / CENT_E18
}

/**
 * Each value in cents, rounded down or up such that they add up to `total`, as far as one cent each allows. The
 * largest remainders are rounded up.
 */
export function shareCents(valuesE18: readonly bigint[], total: bigint): bigint[] {
  const parts = valuesE18.map((value, index) => {
    const rest = ((value % CENT_E18) + CENT_E18) % CENT_E18
    return { index, rest, cents: (value - rest) / CENT_E18 }
  })
  const missing = parts.reduce((left, { cents }) => left - cents, total)
  const raised = parts.filter(({ rest }) => rest > 0n).sort((a, b) => (a.rest < b.rest ? 1 : -1))
  const up = new Set(raised.slice(0, missing > 0n ? Number(missing) : 0).map(({ index }) => index))
  return parts.map(({ index, cents }) => (up.has(index) ? cents + 1n : cents))
}

/** A USD value in cents, rounded up. */
export function toCentsUp(valueE18: bigint): bigint {
  return (valueE18 + CENT_E18 - 1n) / CENT_E18
}

/** The smallest of at least one amount. */
export const smallest = (...amounts: bigint[]): bigint => amounts.reduce((a, b) => (a < b ? a : b))

/** The largest of at least one amount. */
export const largest = (...amounts: bigint[]): bigint => amounts.reduce((a, b) => (a > b ? a : b))

/** The largest amount whose value, by `usdE18` and `toCentsUp`, is at most `cents`. */
export function mostWithin(cents: bigint, token: Priced): bigint {
  return ((cents * CENT_E18 + 1n) * tenTo(token.decimals) - 1n) / token.price
}

/** Formats cents as dollars with two decimals. */
export function formatCents(cents: bigint): string {
  const isNegative = cents < 0n
  const digits = (isNegative ? -cents : cents).toString().padStart(3, '0')
  return `${isNegative ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
