import type { KnownContracts } from '@geoswap/sdk'
import { basePath } from '../route.ts'

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
