import { type Client, GeoswapError, type QuoteReply, type QuoteRequest } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'

export type QuoteState = {
  quote?: QuoteReply | undefined
  error?: unknown
  /** A newer quote is being loaded: the shown one may be of another amount. */
  isStale: boolean
}
/** An answer, and the order that it belongs to. */
type Answer = { key?: string; quote?: QuoteReply; error?: unknown }

const TYPING_MS = 300
const RETRY_MS = 3_000
// Refreshes early, so that a visible quote never expires.
const BEFORE_END_MS = 2_000

/** A live price: requested when the order changes, and again before it expires while the page is visible. */
export function useQuote(client: Client, request: QuoteRequest | undefined): QuoteState {
  const [answer, setAnswer] = useState<Answer>({})
  const key = request && JSON.stringify(request)
  useEffect(() => {
    if (key === undefined) return setAnswer({})
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      if (document.hidden) return
      const next = await askOnce(client, JSON.parse(key) as QuoteRequest, signal)
      if (signal.aborted) return
      setAnswer({ key, ...next })
      const pause = pauseAfter(next)
      if (pause !== undefined) timer = setTimeout(ask, pause)
    }
    const onSight = () => {
      clearTimeout(timer)
      if (!document.hidden) void ask()
    }
    timer = setTimeout(ask, TYPING_MS)
    document.addEventListener('visibilitychange', onSight)
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onSight)
    }
  }, [client, key])
  return stateFor(key, answer)
}

/** The quote in the amounts of one way: what that takes more on the origin chain is part of its network costs. */
export function quoteIn(quote: QuoteReply, way: string): QuoteReply {
  const own = quote.originMethods?.find(({ method }) => method === way)
  if (!own || BigInt(quote.output) === 0n) return quote
  const { input, output, minOutput } = own
  const less = BigInt(quote.output) - BigInt(output)
  const more = (BigInt(quote.input) * less) / BigInt(quote.output) + BigInt(input) - BigInt(quote.input)
  const fees = quote.fees.map((fee) =>
    fee.kind === 'originNetwork' ? { ...fee, amount: String(BigInt(fee.amount) + more) } : fee,
  )
  const lessAtLeast = BigInt(quote.minOutput) - BigInt(minOutput)
  const speeds = quote.speeds?.map((each) => ({
    ...each,
    outputAmount: String(BigInt(each.outputAmount) - less),
    minOutput: String(BigInt(each.minOutput) - lessAtLeast),
  }))
  return { ...quote, input, output, minOutput, fees, speeds }
}

async function askOnce(client: Client, request: QuoteRequest, signal: AbortSignal): Promise<Answer> {
  try {
    return { quote: await client.quote(request, { signal }) }
  } catch (error) {
    return { error }
  }
}

/** A quote of other tokens is not shown: its amounts would be read in the wrong unit. */
function stateFor(key: string | undefined, { key: answered, quote, error }: Answer): QuoteState {
  if (key === answered) return { quote, error, isStale: false }
  if (key === undefined || answered === undefined) return { isStale: key !== undefined }
  return { quote: tokensOf(key) === tokensOf(answered) ? quote : undefined, isStale: true }
}

function tokensOf(key: string): string {
  const { originChain, inputToken, destinationChain, outputToken } = JSON.parse(key) as QuoteRequest
  return [originChain, inputToken, destinationChain, outputToken].join()
}

/** Milliseconds until the next request; undefined if the same request would get the same answer. */
function pauseAfter({ quote, error }: Answer): number | undefined {
  if (quote) return Math.max(RETRY_MS, Date.parse(quote.expiresAt) - Date.now() - BEFORE_END_MS)
  return error instanceof GeoswapError && !error.retryable ? undefined : RETRY_MS
}
