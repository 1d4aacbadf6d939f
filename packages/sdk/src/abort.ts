/**
 * Returns the result of `act`, or rejects with the signal's reason once it is aborted. For work that takes no
 * signal.
 */
export async function orAborted<T>(act: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason)
  })
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([act(), aborted])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Rejects with the signal's reason once it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const pass = () =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
  await orAborted(pass, signal).finally(() => clearTimeout(timer))
}
