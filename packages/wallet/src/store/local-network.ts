import { existsSync, lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { damaged, readJsonFile } from './private-files.ts'

/** True for an address on this machine. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}

type LocalChain = {
  chainId: number
  name: string
  rpcUrl: string
  contracts?: { account: string; escrow: string; vault: string }
  program?: string
  vault?: string
  attester?: string
}

/** The content of `local.json`, which `npm start` writes while its network runs. */
export type LocalNetwork = { apiUrl: string; apiKey: string; faucetUrl: string; chains: LocalChain[] }

/**
 * Searches the named folder, or else `.geoswap` in this folder and its parents. An unpacked or shared folder
 * could contain such a file. So a file that was not named must belong to the user, and no file may name
 * addresses on other machines.
 */
export function findLocalNetwork(start: string, named: string | undefined): LocalNetwork | undefined {
  const path = named ? join(named, 'local.json') : findAbove(start)
  if (path === undefined || (named === undefined && !isOwn(path))) return undefined
  const network = readJsonFile(path) as LocalNetwork | undefined
  if (network === undefined) return undefined
  if (!Array.isArray(network.chains) || typeof network.apiUrl !== 'string') throw damaged(path)
  return addressesIn(network).every(isLoopback) ? network : undefined
}

function findAbove(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.geoswap', 'local.json')
    if (existsSync(path)) return path
    if (dirname(folder) === folder) return undefined
  }
}

const WRITABLE_BY_OTHERS = 0o022

/** True if the file and its folder belong to the user and nobody else can write to them. */
function isOwn(path: string): boolean {
  return [path, dirname(path)].every((each) => {
    const { uid, mode } = lstatSync(each)
    const isUsers = process.getuid === undefined || uid === process.getuid()
    return isUsers && (mode & WRITABLE_BY_OTHERS) === 0
  })
}

/** Every URL in the value, whatever its field is called. */
function addressesIn(value: unknown): string[] {
  if (typeof value === 'string') return /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(addressesIn)
}
