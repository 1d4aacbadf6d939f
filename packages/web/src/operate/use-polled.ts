import { useCallback, useEffect, useState } from 'preact/hooks'

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
