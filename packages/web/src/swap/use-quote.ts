import { type Client, GeoswapError, type QuoteReply, type QuoteRequest } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'

export type QuoteState = {
  quote?: QuoteReply | undefined
  error?: unknown
  /** A newer quote is being loaded: the shown one may belong to another order. */
  isStale: boolean
}

const TYPING_MS = 300
const RETRY_MS = 3_000
// Refreshes early, so that a visible quote never expires.
const BEFORE_END_MS = 2_000

/** A live price: requested when the order changes, and again before it expires while the page is visible. */
export function useQuote(client: Client, request: QuoteRequest | undefined): QuoteState {
  const [state, setState] = useState<QuoteState>({ isStale: false })
  const key = request && JSON.stringify(request)
  useEffect(() => {
    if (key === undefined) return setState({ isStale: false })
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      if (document.hidden) return
      const next = await askOnce(client, JSON.parse(key) as QuoteRequest, signal)
      if (signal.aborted) return
      setState(next)
      const pause = pauseAfter(next)
      if (pause !== undefined) timer = setTimeout(ask, pause)
    }
    const onSight = () => {
      clearTimeout(timer)
      if (!document.hidden) void ask()
    }
    setState((last) => ({ quote: last.quote, isStale: true }))
    timer = setTimeout(ask, TYPING_MS)
    document.addEventListener('visibilitychange', onSight)
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onSight)
    }
  }, [client, key])
  return state
}

async function askOnce(client: Client, request: QuoteRequest, signal: AbortSignal): Promise<QuoteState> {
  try {
    return { quote: await client.quote(request, { signal }), isStale: false }
  } catch (error) {
    return { error, isStale: false }
  }
}

/** Milliseconds until the next request; undefined if the same request would get the same answer. */
function pauseAfter({ quote, error }: QuoteState): number | undefined {
  if (quote) return Math.max(RETRY_MS, Date.parse(quote.expiresAt) - Date.now() - BEFORE_END_MS)
  return error instanceof GeoswapError && !error.retryable ? undefined : RETRY_MS
}
