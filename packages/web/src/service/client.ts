import { type Client, createClient, type KnownContracts } from '@geoswap/sdk'
import { basePath, createObservable } from '../route.ts'
import { signatures } from '../swap/signatures.ts'

/** The server's description of this deployment. */
export type Settings = {
  rpcUrls: Readonly<Record<number, string>>
  txUrls: Readonly<Record<number, string>>
  /** Contracts that wallets may sign for: those that the API names are compared with them. */
  contracts: Readonly<Record<number, KnownContracts>>
  /** Only on a local network. */
  local?: { apiKey: string; faucetUrl: string }
  /** Only on the operator's listener; the key only on a local network. */
  operator?: { key?: string }
}

export async function readSettings(): Promise<Settings> {
  const response = await fetch(`${basePath}/app/network.json`)
  if (!response.ok) throw new Error(`The server answered ${response.status} to the request for settings.`)
  return (await response.json()) as Settings
}

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
