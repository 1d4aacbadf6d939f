import { createPublicClient, fallback, http, type PublicClient } from 'viem'

type Options = { urls: readonly string[]; timeoutMs?: number; assertOutsideTransaction?: () => void }

/** A client over all of a chain's nodes. Calls of one tick travel in one request. */
export function createEvmClient({
  urls,
  timeoutMs = 5_000,
  assertOutsideTransaction,
}: Options): PublicClient {
  const transports = urls.map((url) =>
    http(url, {
      batch: { wait: 0, batchSize: 100 },
      retryCount: 1,
      retryDelay: 50,
      timeout: timeoutMs,
      ...(assertOutsideTransaction && { onFetchRequest: () => assertOutsideTransaction() }),
    }),
  )
  return createPublicClient({ transport: fallback(transports, { retryCount: 0 }), cacheTime: 0 })
}
