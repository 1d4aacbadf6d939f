import type {
  ErrorReply,
  OperatorHours,
  OperatorOverview,
  OperatorPause,
  OperatorResume,
  OperatorSeries,
} from '@geoswap/wire'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Explained } from '../explain.ts'
import { watchedFetch } from '../service/client.ts'

export type OperatorClient = {
  overview(signal: AbortSignal): Promise<OperatorOverview>
  series(hours: OperatorHours, signal: AbortSignal): Promise<OperatorSeries>
  pause(pause: OperatorPause): Promise<{ id: string }>
  resume(id: string, resume: OperatorResume): Promise<{ id: string }>
}

/** A refusal by the operator API, with its message. */
class OperatorError extends Error {
  readonly code: string
  readonly status: number
  readonly requestId: string | undefined

  constructor(status: number, { code, message, requestId }: Partial<ErrorReply>) {
    super(message ?? `The server answered ${status}.`)
    this.code = code ?? 'UNEXPECTED_REPLY'
    this.status = status
    this.requestId = requestId
  }
}

export function createOperatorClient(key: string): OperatorClient {
  async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
    const headers = { 'x-operator-key': key, ...init.headers }
    const response = await watchedFetch(`/operate/${path}`, { ...init, headers })
    const body: unknown = await response.json().catch(() => ({}))
    if (!response.ok) throw new OperatorError(response.status, body as Partial<ErrorReply>)
    return body as T
  }
  const post = <T>(path: string, body: object): Promise<T> =>
    call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    overview: (signal) => call('overview', { signal }),
    series: (hours, signal) => call(`series?hours=${hours}`, { signal }),
    pause: (pause) => post('stops', pause),
    resume: (id, resume) => post(`stops/${encodeURIComponent(id)}/resume`, resume),
  }
}

export const isKeyRefused = (error: unknown): boolean =>
  error instanceof OperatorError && error.status === 401

export function explainOperator(error: unknown): Explained {
  if (!(error instanceof OperatorError)) {
    const advice = 'Check that the process runs and that you can reach it. The page retries automatically.'
    return { code: 'CONNECTION_FAILED', message: 'The operator API did not answer.', advice }
  }
  const { code, message, requestId } = error
  return { code, message, requestId, advice: ADVICE[code] ?? '' }
}

const ADVICE: Readonly<Record<string, string>> = {
  INVALID_API_KEY: 'Enter one of GEOSWAP_OPERATOR_KEYS.',
  MISSING_API_KEY: 'Enter one of GEOSWAP_OPERATOR_KEYS.',
  RATE_LIMITED: 'Wait a moment.',
  NOT_FOUND: 'Another operator may have ended it. The list below is current.',
  SERVICE_UNAVAILABLE: 'The database is not available. The page retries automatically.',
  INTERNAL: 'Look for the request id in the log of the API.',
}

type Polled<T> = { value?: T; error?: unknown; refresh(): void }

/** Reads repeatedly while the page is visible. An error keeps the last value. */
export function usePolled<T>(read: (signal: AbortSignal) => Promise<T>, everyMs: number): Polled<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({})
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async () => {
      if (document.hidden) return
      const next = await read(controller.signal).then(
        (value) => ({ value, error: undefined }),
        (error: unknown) => ({ error }),
      )
      if (controller.signal.aborted) return
      setState((last) => ({ ...last, ...next }))
      clearTimeout(timer)
      timer = setTimeout(load, everyMs)
    }
    const onLook = () => void load()
    document.addEventListener('visibilitychange', onLook)
    void load()
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onLook)
    }
  }, [read, everyMs, turn])
  return { ...state, refresh: useCallback(() => setTurn((last) => last + 1), []) }
}
