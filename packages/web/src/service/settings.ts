import type { KnownContracts } from '@geoswap/sdk'
import { basePath } from '../route.ts'

/** What the server says about where this page runs. */
export type Settings = {
  rpcUrls: Readonly<Record<number, string>>
  txUrls: Readonly<Record<number, string>>
  /** Whom wallets may sign for: what the API names is compared with it. */
  contracts: Readonly<Record<number, KnownContracts>>
  /** Only on a network of one machine. */
  local?: { apiKey: string; faucetUrl: string }
  /** Only on the operator's listener; the key only on a network of one machine. */
  operator?: { key?: string }
}

export async function readSettings(): Promise<Settings> {
  const response = await fetch(`${basePath}/app/network.json`)
  if (!response.ok) throw new Error(`The server answered ${response.status} to the page's first question.`)
  return (await response.json()) as Settings
}
