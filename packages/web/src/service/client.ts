import { type Client, createClient } from '@geoswap/sdk'
import { createObservable } from '../observable.ts'
import { basePath } from '../route.ts'
import { signatures } from '../swap/signatures.ts'
import type { Settings } from './settings.ts'

/** False after a call without an answer, until a call is answered. */
export const isReachable = createObservable(true)

export function connect(apiKey: string, { contracts, rpcUrls }: Settings): Client {
  const baseUrl = `${location.origin}${basePath}`
  return createClient({ baseUrl, apiKey, contracts, rpcUrls, signatures, fetch: watchedFetch })
}

/** Records for each call whether the service can be reached. */
export const watchedFetch: typeof fetch = async (...call) => {
  try {
    const response = await fetch(...call)
    isReachable.set(true)
    return response
  } catch (error) {
    // A call that the page itself aborted says nothing about the service.
    if (!(call[1]?.signal?.aborted ?? false)) isReachable.set(false)
    throw error
  }
}
