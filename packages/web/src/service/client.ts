import { type Client, type ClientOptions, createClient } from '@geoswap/sdk'
import { createObservable } from '../observable.ts'
import { basePath } from '../route.ts'

/** False from the moment a call got no answer until one does. */
export const isReachable = createObservable(true)

export function connect(apiKey: string, contracts: NonNullable<ClientOptions['contracts']>): Client {
  return createClient({ baseUrl: `${location.origin}${basePath}`, apiKey, contracts, fetch: watchedFetch })
}

/** Tells from each call whether the service can be reached. */
export const watchedFetch: typeof fetch = async (...call) => {
  try {
    const response = await fetch(...call)
    isReachable.set(true)
    return response
  } catch (error) {
    // A call that the page itself gave up says nothing about the service.
    if (!(call[1]?.signal?.aborted ?? false)) isReachable.set(false)
    throw error
  }
}
