import type { Client, HistoryQuery, SwapRecord } from '@geoswap/sdk'
import { SWAP_STATUSES } from '@geoswap/wire/names'

type Search = { kind: 'swap' | 'tx' | 'wallet'; value: string }

const BASE58 = '[1-9A-HJ-NP-Za-km-z]'
const FORMS: readonly [Search['kind'], RegExp][] = [
  ['swap', /^swp_\w+$/],
  ['tx', /^0x[0-9a-fA-F]{64}$/],
  ['wallet', /^0x[0-9a-fA-F]{40}$/],
  ['tx', new RegExp(`^${BASE58}{80,90}$`)],
  ['wallet', new RegExp(`^${BASE58}{32,44}$`)],
]

/** Parses a search text as an id, a transaction or a wallet. Undefined if it is none of them. */
export function readSearch(text: string): Search | undefined {
  const value = text.trim()
  const kind = FORMS.find(([, form]) => form.test(value))?.[0]
  return kind && { kind, value }
}

const PAGE = 100
const PAGES = 10

/** Finds the swap of a transaction among the newest thousand, since transactions are not indexed. */
export async function findByTransaction(
  client: Client,
  hash: string,
  signal: AbortSignal,
): Promise<SwapRecord | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page += 1) {
    const reply = await client.history({ limit: PAGE, cursor }, { signal })
    const found = reply.swaps.find((swap) => isOf(swap, hash))
    if (found) return found
    cursor = reply.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}

function isOf({ originTxHash, deliveryTxHash, refund, timeline }: SwapRecord, hash: string): boolean {
  const form = (text: string | undefined) => (text?.startsWith('0x') ? text.toLowerCase() : text)
  return [originTxHash, deliveryTxHash, refund?.txHash, ...timeline.map(({ txHash }) => txHash)]
    .map(form)
    .includes(form(hash))
}

/** Finds the record of a swap. The history filters by time, and one millisecond holds few swaps. */
export async function findRecord(
  client: Client,
  { swapId, createdAt }: { swapId: string; createdAt: string },
  signal: AbortSignal,
): Promise<SwapRecord | undefined> {
  const to = new Date(Date.parse(createdAt) + 1).toISOString()
  const { swaps } = await client.history({ from: createdAt, to, limit: PAGE }, { signal })
  return swaps.find((swap) => swap.swapId === swapId)
}

const DAY_MS = 86_400_000

/**
 * Converts the filters of the URL for the service. Days are in the user's time zone, and the last one is
 * included.
 */
export function toHistoryQuery(query: URLSearchParams): HistoryQuery {
  const status = SWAP_STATUSES.find((each) => each === query.get('status'))
  const wallet = query.get('wallet')
  const from = dayOf(query.get('from'))
  const to = dayOf(query.get('to'))
  return {
    status,
    wallet: wallet || undefined,
    from: from === undefined ? undefined : new Date(from).toISOString(),
    to: to === undefined ? undefined : new Date(to + DAY_MS).toISOString(),
  }
}

function dayOf(text: string | null): number | undefined {
  if (!text || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const time = new Date(`${text}T00:00:00`).getTime()
  return Number.isNaN(time) ? undefined : time
}
