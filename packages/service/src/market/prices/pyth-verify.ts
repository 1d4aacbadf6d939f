import type { Findings } from '../../chains/findings.ts'
import { askHermes, fieldOf, hermesUrl, type Server, toFeedId } from './pyth-hermes.ts'

/** A feed, and what it is called where that is not `Crypto.`, the asset and `/USD`. */
export type NamedFeed = { asset: string; feedId: string; description?: string | undefined }

/** Whether the ids are those of the assets: an id that is another asset's gives its price, and nobody would see it. */
export async function findPythDifferences(server: Server, feeds: readonly NamedFeed[]): Promise<Findings> {
  const found = await Promise.all(feeds.map((feed) => findDifference(server, feed)))
  return {
    problems: found.flatMap(({ problem }) => problem ?? []),
    warnings: [...new Set(found.flatMap(({ warning }) => warning ?? []))],
  }
}

async function findDifference(server: Server, { asset, feedId, description }: NamedFeed) {
  const expected = description ?? `Crypto.${asset}/USD`
  try {
    const symbols = await readSymbols(server, expected.replace(/^.*\./, ''))
    const symbol = symbols.get(feedId)
    if (symbol === expected) return {}
    const actual = symbol === undefined ? `no feed of ${expected}` : `${symbol}, not ${expected}`
    return { problem: `${asset}: by the Hermes server the Pyth feed ${feedId} is ${actual}` }
  } catch (error) {
    return { warning: `Pyth feeds cannot be verified: ${error instanceof Error ? error.message : error}` }
  }
}

/** What the feeds are called whose name has this in it, by their ids. */
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
