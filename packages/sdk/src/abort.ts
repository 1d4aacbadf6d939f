/** What `act` gives, or the signal's reason as soon as that is aborted; for what cannot be stopped itself. */
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

/** Rejects with the signal's reason as soon as it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const pass = () =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
  await orAborted(pass, signal).finally(() => clearTimeout(timer))
}
