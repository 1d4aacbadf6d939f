/** The smallest value that at least this share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** `p50 / p95 / max` in milliseconds. */
export function spread(values: readonly number[]): string {
  return [median(values), percentile(values, 0.95), Math.max(...values)].map(ms).join(' / ')
}

export function ms(value: number): string {
  if (Number.isNaN(value)) return '–'
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

export const perSecond = (value: number): string => `${Math.round(value)}/s`
