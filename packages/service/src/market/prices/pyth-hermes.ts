import { BPS, toPriceE18Down } from '../../model/amount.ts'
import { judgePrice, type Outcome, type PriceSource } from './source.ts'

type PythFeed = {
  asset: string
  /** `0x` and 64 lower-case hex digits. */
  feedId: string
  maxAgeSeconds: number
  /** Maximum half-width of the confidence interval, relative to the price. */
  maxConfidenceBps: number
}

export type Server = { url: string; apiKey?: string | undefined; timeoutMs?: number }
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

export function toFeedName(feedId: string): string {
  return `pyth ${feedId}`
}

export function hermesUrl({ url }: Server, path: string): URL {
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

export async function askHermes(url: URL, { apiKey, timeoutMs = 3_000 }: Server): Promise<string> {
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
export function toFeedId(id: string): string {
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

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
