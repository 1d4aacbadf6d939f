/**
 * Runs `work` once per key, with a limit of keys per event loop turn, so that thousands of swaps that end at once do
 * not delay other calls. Ignores a key that is queued or in progress.
 */
export function createChunks(work: (key: string) => Promise<unknown>, perTurn = 128) {
  const busy = new Set<string>()
  let queue: string[] = []

  const turn = (): void => {
    const now = queue.slice(0, perTurn)
    queue = queue.slice(perTurn)
    if (queue.length > 0) setImmediate(turn)
    for (const key of now) void work(key).finally(() => busy.delete(key))
  }
  return {
    isBusy: (key: string): boolean => busy.has(key),
    add(key: string): void {
      if (busy.has(key)) return
      busy.add(key)
      queue.push(key)
      if (queue.length === 1) setImmediate(turn)
    },
  }
}
