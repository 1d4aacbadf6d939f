import { BPS, type PriceE18 } from '../../swap/amount.ts'
import type { Exchange } from '../../swap/catalog.ts'
import { groupBy } from '../../swap/group.ts'
import { type PriceRules, type Reference, toReference, type Unavailable } from './reference.ts'
import type { PriceSource, Problem, Reading } from './source.ts'

/** `silent`: the source does not answer. `chainStopped`: its chain is halted. */
export type FeedState = Pick<Reading, 'feed' | 'asOf'> &
  (
    | { price: PriceE18; problem?: undefined }
    | { price?: undefined; problem: Problem | 'silent' | 'chainStopped' }
  )

/** With the time as of which all feeds that answer were known, of those that tell it. */
type DatedReference = Reference & { asOf?: number | undefined }

export type PriceBook = {
  sources: readonly PriceSource[]
  assets: readonly string[]
  /** Reads one source. Never throws; false if it did not answer. */
  refresh(source: PriceSource): Promise<boolean>
  feedsOf(asset: string): FeedState[]
  /** From memory, without a read. */
  referenceOf(asset: string): DatedReference
}

type Options = {
  sources: readonly PriceSource[]
  rules: ReadonlyMap<string, PriceRules>
  /** Whether the head of a chain advances. */
  isLive(chainId: number): boolean
  now(): number
  onFault(error: unknown, source: string): void
}

type Page = { turn: number; at: number; readings: ReadonlyMap<string, readonly Reading[]> }

/** A source that has not answered for this long counts as down. */
export const STALE_MS = 10_000
// A quote needs four prices, and many quotes are answered at once: a price is computed once for all of them.
const MOMENT_MS = 5

/** Keeps the last readings of every source, and computes the reference price from live ones. */
export function createPriceBook({ sources, rules, isLive, now, onFault }: Options): PriceBook {
  const pages = new Map<PriceSource, Page>()
  const failing = new Set<PriceSource>()
  const askedAt = new Map<PriceSource, number>()
  const known = new Map<string, DatedReference>()
  let knownAt = Number.NaN
  let turns = 0

  async function refresh(source: PriceSource): Promise<boolean> {
    const asked = askedAt.get(source)
    if (asked !== undefined && now() - asked < (source.minIntervalMs ?? 0)) return !failing.has(source)
    askedAt.set(source, now())
    turns += 1
    const turn = turns
    try {
      const readings = groupBy(await source.read(), ({ asset }) => asset)
      // A late answer must not replace a newer one.
      if (turn > (pages.get(source)?.turn ?? 0)) pages.set(source, { turn, at: now(), readings })
      known.clear()
      failing.delete(source)
      return true
    } catch (error) {
      if (!failing.has(source)) onFault(error, source.name)
      failing.add(source)
      return false
    }
  }

  function feedsOf(asset: string): FeedState[] {
    const states: FeedState[] = []
    for (const source of sources) {
      if (!source.assets.has(asset)) continue
      const page = pages.get(source)
      const ageMs = page ? now() - page.at : STALE_MS
      if (!page || ageMs >= STALE_MS) states.push({ feed: source.name, problem: 'silent' })
      else if (isStopped(source)) states.push({ feed: source.name, problem: 'chainStopped' })
      else for (const reading of page.readings.get(asset) ?? []) states.push(toState(reading, ageMs))
    }
    return states
  }

  const isStopped = ({ chainId }: PriceSource) => chainId !== undefined && !isLive(chainId)

  function readReference(asset: string): DatedReference {
    const rule = rules.get(asset)
    if (!rule) return { unavailable: 'tooFew' }
    const live: PriceE18[] = []
    let asOf: number | undefined
    for (const feed of feedsOf(asset)) {
      if (feed.price !== undefined) live.push(feed.price)
      // A feed without a price may have one by now.
      if (feed.asOf !== undefined) asOf = Math.min(feed.asOf, asOf ?? feed.asOf)
    }
    return { ...toReference(live, rule), asOf }
  }

  return {
    sources,
    assets: [...rules.keys()],
    refresh,
    feedsOf,
    referenceOf(asset) {
      const moment = Math.floor(now() / MOMENT_MS)
      if (moment !== knownAt) known.clear()
      knownAt = moment
      const reference = known.get(asset) ?? readReference(asset)
      known.set(asset, reference)
      return reference
    },
  }
}

function toState({ feed, outcome, asOf }: Reading, ageMs: number): FeedState {
  if ('problem' in outcome) return { feed, problem: outcome.problem, asOf }
  return ageMs < outcome.freshForMs ? { feed, price: outcome.price, asOf } : { feed, problem: 'stale', asOf }
}

export type PriceChange = { asset: string; state: 'available' | Unavailable; feeds: FeedState[] }

/** Returns a function that checks all assets and reports each change of state once. Assets start as available. */
export function createPriceWatch(book: PriceBook, onChange: (change: PriceChange) => void): () => void {
  const known = new Map<string, PriceChange['state']>()
  return () => {
    for (const asset of book.assets) {
      const state = book.referenceOf(asset).unavailable ?? 'available'
      if (state === (known.get(asset) ?? 'available')) continue
      known.set(asset, state)
      onChange({ asset, state, feeds: book.feedsOf(asset) })
    }
  }
}

/** With fewer live sources, no majority shows which of them is wrong. */
export const USUAL_SOURCES = 3

/**
 * Values an exchange against the caller, who may know better than the sources: the input by its lowest source, the
 * output by its highest, less a spread if either has few. Within one asset no price matters, and none has to be known.
 */
export function toExchange(
  book: { referenceOf(asset: string): Reference },
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
