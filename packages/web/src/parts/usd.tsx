import { formatUsd, readUsd } from '../usd.ts'

/** An indicative value beside an amount. */
export function Usd({ text }: { text: string | undefined }) {
  const value = readUsd(text)
  return value === undefined ? null : <span class="unit fine">about {formatUsd(value)}</span>
}
