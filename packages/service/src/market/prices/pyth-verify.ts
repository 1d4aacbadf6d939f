import type { Findings } from '../../chains/findings.ts'
import { quoteStranger } from '../../model/stranger-text.ts'
import { askHermes, fieldOf, hermesUrl, type Server, toFeedId, toFeedName } from './pyth-hermes.ts'
import type { PriceSource } from './source.ts'

/** A feed, and its name if that is not `Crypto.<asset>/USD`. */
type NamedFeed = { asset: string; feedId: string; description?: string | undefined }

/** Checks that feed ids match their assets: a wrong id would silently give the price of another asset. */
export async function findPythDifferences(server: Server, feeds: readonly NamedFeed[]): Promise<Findings> {
  const found = await Promise.all(feeds.map((feed) => findDifference(server, feed)))
  return {
    problems: found.flatMap(({ problem }) => problem ?? []),
    warnings: [...new Set(found.flatMap(({ warning }) => warning ?? []))],
  }
}

type Checked = { server: Server; feeds: readonly NamedFeed[]; now(): number }

// The names are asked for at the first read, and again from time to time.
const NAMES_MS = 300_000
const AGAIN_MS = 30_000

/** The source without prices of feeds that are of other assets now. While nobody tells, the last answer counts. */
export function withoutRenamed(source: PriceSource, { server, feeds, now }: Checked): PriceSource {
  let renamed = new Set<string>()
  let askedAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    askedAt = now()
    const found = await Promise.all(
      feeds.map(async (feed) => [feed, await findDifference(server, feed)] as const),
    )
    if (found.some(([, { warning }]) => warning !== undefined)) return
    renamed = new Set(found.flatMap(([{ feedId }, { problem }]) => (problem ? [toFeedName(feedId)] : [])))
  }
  return {
    ...source,
    async read() {
      if (now() - askedAt >= (renamed.size > 0 ? AGAIN_MS : NAMES_MS)) await ask()
      const readings = await source.read()
      return readings.map((reading) =>
        renamed.has(reading.feed) ? { ...reading, outcome: { problem: 'renamed' as const } } : reading,
      )
    },
  }
}

async function findDifference(
  server: Server,
  { asset, feedId, description }: NamedFeed,
): Promise<{ problem?: string; warning?: string }> {
  const expected = description ?? `Crypto.${asset}/USD`
  try {
    const symbols = await readSymbols(server, expected.replace(/^.*\./, ''))
    const symbol = symbols.get(feedId)
    if (symbol === expected) return {}
    const actual =
      symbol === undefined ? `no feed of ${expected}` : `${quoteStranger(symbol)}, not ${expected}`
    return { problem: `${asset}: the Hermes server says the Pyth feed ${feedId} is ${actual}` }
  } catch (error) {
    return { warning: `Pyth feeds cannot be verified: ${error instanceof Error ? error.message : error}` }
  }
}

/** The symbols of feeds whose name matches the query, by id. */
async function readSymbols(server: Server, query: string): Promise<Map<string, string>> {
  const url = hermesUrl(server, 'v2/price_feeds')
  url.searchParams.append('query', query)
  const listed: unknown = JSON.parse(await askHermes(url, server))
  if (!Array.isArray(listed)) throw new Error('Hermes answered without a list of feeds')
  const entries = listed.flatMap((entry: unknown): [string, string][] => {
    const [id, symbol] = [fieldOf(entry, 'id'), fieldOf(fieldOf(entry, 'attributes'), 'symbol')]
    return typeof id === 'string' && typeof symbol === 'string' ? [[toFeedId(id), symbol]] : []
  })
  return new Map(entries)
}
