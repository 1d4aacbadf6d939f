import type { KnownContracts, PinStore } from '@geoswap/sdk'
import { damaged, readJsonFile, replaceJsonFile } from './private-files.ts'

type Pinned = Readonly<Record<string, Readonly<Record<string, KnownContracts>>>>

/** Contracts verified on their chain, by service, since each service may have its own deployment. */
export function openPins(path: string, service: string): PinStore {
  function read(): Pinned {
    const value = readJsonFile(path) ?? {}
    if (typeof value !== 'object' || Array.isArray(value)) throw damaged(path)
    return value as Pinned
  }

  return {
    get: (chainId) => read()[service]?.[chainId],
    set(chainId, contracts) {
      const pinned = read()
      replaceJsonFile(path, { ...pinned, [service]: { ...pinned[service], [chainId]: contracts } })
    },
  }
}
