import type { QuoteReply } from '@geoswap/sdk'

/** Parses dollars with up to two decimals into cents. Undefined if invalid or negative. */
export function parseCents(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(2, '0'))
}

export function formatUsd(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)} USD`
}

/**
 * The value that counts towards the limits: the larger of input and output. Undefined if the service reports
 * no value of the input.
 */
export function valueCentsOf({
  inputUsd,
  outputUsd,
}: Pick<QuoteReply, 'inputUsd' | 'outputUsd'>): bigint | undefined {
  const paid = inputUsd === undefined ? undefined : parseCents(inputUsd)
  if (paid === undefined) return undefined
  const bought = (outputUsd === undefined ? undefined : parseCents(outputUsd)) ?? 0n
  return paid > bought ? paid : bought
}
