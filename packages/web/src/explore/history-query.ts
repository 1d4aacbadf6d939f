import type { HistoryQuery } from '@geoswap/sdk'

const STATUSES = ['pending', 'settled', 'failed', 'refunded'] as const
const DAY_MS = 86_400_000

/**
 * Converts the filters of the URL for the service. Days are in the user's time zone, and the last one is
 * included.
 */
export function toHistoryQuery(query: URLSearchParams): HistoryQuery {
  const status = STATUSES.find((each) => each === query.get('status'))
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
