import { useEffect, useState } from 'preact/hooks'

/** A value that notifies its listeners when it changes. */
type Observable<T> = { get(): T; set(value: T): void; onChange(listener: () => void): () => void }

export function createObservable<T>(first: T): Observable<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
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
