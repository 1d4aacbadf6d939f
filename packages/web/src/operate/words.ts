import { formatAmount } from '../amounts.ts'

/** Cents as dollars; large amounts without the cents. */
export function formatCents(cents: bigint): string {
  if (cents >= 100_000n) return `$${formatAmount(cents / 100n, 0)}`
  const digits = cents.toString().padStart(3, '0')
  return `$${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Millionths of a dollar, with four decimals: gas on a rollup costs less than a cent. */
export function formatMicros(micros: bigint): string {
  const units = (micros < 0n ? -micros : micros) / 100n
  return `${micros < 0n ? '-' : ''}$${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`
}

/** A duration with the precision that people need. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}

/** The used share in whole percent, rounded up. */
export function percentOf(part: bigint, whole: bigint): number {
  if (whole <= 0n) return part > 0n ? 100 : 0
  return Number((part * 100n + whole - 1n) / whole)
}

/** The scope of a stop in words. */
export function scopeInWords(asset: string | undefined, chain: string | undefined): string {
  if (asset === undefined && chain === undefined) return 'everything'
  if (asset === undefined) return `everything on ${chain}`
  return `${asset} on ${chain ?? 'every chain'}`
}

export const momentOf = (at: string): string =>
  new Date(at).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })
