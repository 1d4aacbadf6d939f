import { BPS } from '../../model/amount.ts'
import type { Exchange } from '../../model/catalog.ts'
import type { PriceBook } from './book.ts'

/** With fewer live sources, no majority shows which of them is wrong. */
export const USUAL_SOURCES = 3
export const DEFAULT_THIN_SPREAD_BPS = 5

/**
 * Values an exchange against the caller, who may know better than the sources: the input by its lowest source, the
 * output by its highest, less a spread if either has few. Within one asset no price matters, and none has to be known.
 */
export function toExchange(
  book: Pick<PriceBook, 'referenceOf'>,
  { input, output }: { input: string; output: string },
  thinSpreadBps: number,
): Exchange | undefined {
  const given = book.referenceOf(input)
  if (given.price === undefined) return undefined
  if (input === output) return { input: given.price, output: given.price }
  const taken = book.referenceOf(output)
  if (taken.price === undefined) return undefined
  const isThin = given.count < USUAL_SOURCES || taken.count < USUAL_SOURCES
  const spread = BigInt(isThin ? thinSpreadBps : 0)
  return { input: (given.low * (BPS - spread)) / BPS, output: taken.high }
}
