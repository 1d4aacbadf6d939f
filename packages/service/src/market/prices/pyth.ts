import type { Findings } from '../../chains/findings.ts'
import { quoteStranger } from '../../errors.ts'
import { BPS, toPriceE18Down } from '../../swap/amount.ts'
import { judgePrice, type Outcome, type PriceSource } from './source.ts'

type PythFeed = {
  asset: string
  /** `0x` and 64 lower-case hex digits. */
  feedId: string
  maxAgeSeconds: number
  /** Maximum half-width of the confidence interval, relative to the price. */
  maxConfidenceBps: number
}

type Server = { url: string; apiKey?: string | undefined; timeoutMs?: number }
type Options = Server & { feeds: readonly PythFeed[]; pollMs: number; now(): number }

/** Price and confidence are integers with a common exponent: 123 with -2 is 1.23. */
type Update = { price: bigint; conf: bigint; expo: number; publishTime: number }

// One feed takes about 1.5 kB with its proof, which cannot be omitted.
const MAX_BYTES = 1 << 20
// Pyth publishes exponents from -12 to 0; beyond this limit the update is invalid.
const MAX_EXPONENT = 30

/** Pyth prices from a Hermes server. The server is trusted: proofs of updates are not verified. */
export function createPythSource(options: Options): PriceSource {
  const { feeds, now } = options
  const url = toUrl(options)
  return {
    name: 'pyth',
    assets: new Set(feeds.map(({ asset }) => asset)),
    minIntervalMs: options.pollMs,
    async read() {
      const updates = toUpdates(JSON.parse(await askHermes(url, options)))
      const nowSeconds = BigInt(Math.floor(now() / 1_000))
      return feeds.map((feed) => ({
        asset: feed.asset,
        feed: toFeedName(feed.feedId),
        outcome: toOutcome(feed, updates.get(feed.feedId), nowSeconds),
      }))
    },
  }
}

function toFeedName(feedId: string): string {
  return `pyth ${feedId}`
}

function hermesUrl({ url }: Server, path: string): URL {
  return new URL(path, url.endsWith('/') ? url : `${url}/`)
}

function toUrl({ feeds, ...server }: Options): URL {
  const latest = hermesUrl(server, 'v2/updates/price/latest')
  for (const id of new Set(feeds.map(({ feedId }) => feedId))) latest.searchParams.append('ids[]', id)
  latest.searchParams.append('parsed', 'true')
  // Without this, one withdrawn feed makes the server reject all of them.
  latest.searchParams.append('ignore_invalid_price_ids', 'true')
  return latest
}

async function askHermes(url: URL, { apiKey, timeoutMs = 3_000 }: Server): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.ok) return readBounded(response)
  await response.body?.cancel()
  throw new Error(`Hermes answered ${response.status}`)
}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw new Error(`Hermes sent more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toOutcome(feed: PythFeed, update: Update | undefined, nowSeconds: bigint): Outcome {
  if (!update) return { problem: 'noAnswer' }
  const { maxAgeSeconds, maxConfidenceBps } = feed
  const price = toPriceE18Down(update.price, -update.expo)
  const outcome = judgePrice({ price, atSeconds: BigInt(update.publishTime), nowSeconds, maxAgeSeconds })
  const isWide = update.conf * BPS > update.price * BigInt(maxConfidenceBps)
  return 'price' in outcome && isWide ? { problem: 'uncertain' } : outcome
}

/** The updates by feed id. Malformed entries are omitted. */
function toUpdates(reply: unknown): Map<string, Update> {
  const parsed = fieldOf(reply, 'parsed')
  if (!Array.isArray(parsed)) throw new Error('Hermes answered without parsed prices')
  const entries = parsed.flatMap((entry: unknown): [string, Update][] => {
    const id = fieldOf(entry, 'id')
    const update = toUpdate(fieldOf(entry, 'price'))
    return typeof id === 'string' && update ? [[toFeedId(id), update]] : []
  })
  return new Map(entries)
}

/** Restores the prefix, which the server omits from ids. */
function toFeedId(id: string): string {
  return `0x${id.replace(/^0x/, '').toLowerCase()}`
}

function toUpdate(value: unknown): Update | undefined {
  const price = toInteger(fieldOf(value, 'price'))
  const conf = toInteger(fieldOf(value, 'conf'))
  const expo = fieldOf(value, 'expo')
  const publishTime = fieldOf(value, 'publish_time')
  if (price === undefined || conf === undefined || conf < 0n) return undefined
  if (!isInteger(expo) || Math.abs(expo) > MAX_EXPONENT || !isInteger(publishTime)) return undefined
  return { price, conf, expo, publishTime }
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)

/** 64-bit integers are strings: a JSON number would lose digits. */
function toInteger(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

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
