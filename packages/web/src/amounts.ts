/** The fields of a token that amounts need. */
export type Unit = { symbol: string; decimals: number }

/** All significant digits, without trailing zeros. */
export function formatExact(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${whole}${fraction && `.${fraction}`}`
}

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
