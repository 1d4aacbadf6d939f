import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { damaged, readJsonFile } from './private-files.ts'

type LocalChain = {
  chainId: number
  name: string
  rpcUrl: string
  contracts?: { account: string; escrow: string; vault: string }
  vaults?: { intake: string; inventory: string }
}

/** What `npm start` leaves in `local.json` for as long as its network runs. */
export type LocalNetwork = { apiUrl: string; apiKey: string; faucetUrl: string; chains: LocalChain[] }

/** In the folder that is named, or else in `.geoswap` of this folder or the nearest one above that has it. */
export function findLocalNetwork(start: string, named: string | undefined): LocalNetwork | undefined {
  const path = named ? join(named, 'local.json') : findAbove(start)
  const network = path === undefined ? undefined : (readJsonFile(path) as LocalNetwork | undefined)
  if (path === undefined || network === undefined) return undefined
  if (!Array.isArray(network.chains) || typeof network.apiUrl !== 'string') throw damaged(path)
  // Wherever somebody unpacks something there could be such a file: it cannot lead away from this machine.
  return [network.apiUrl, network.faucetUrl].every(isLoopback) ? network : undefined
}

function findAbove(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.geoswap', 'local.json')
    if (existsSync(path)) return path
    if (dirname(folder) === folder) return undefined
  }
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}
