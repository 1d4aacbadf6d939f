import { useEffect, useState } from 'preact/hooks'

/** A value that whoever shows it is told of when it changes. */
export type Observable<T> = { get(): T; set(value: T): void; onChange(tell: () => void): () => void }

export function createObservable<T>(first: T): Observable<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const tell of listeners) tell()
    },
    onChange(tell) {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
  }
}

export function useObservable<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(observable.get())
  useEffect(() => {
    setValue(observable.get())
    return observable.onChange(() => setValue(observable.get()))
  }, [observable])
  return value
}
