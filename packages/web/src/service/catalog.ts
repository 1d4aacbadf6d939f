import { type ChainEntry, type Client, GeoswapError, plainText, type TokenEntry } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'

export type Catalog = { chains: readonly ChainEntry[]; tokens: readonly TokenEntry[] }
type CatalogState = { catalog?: Catalog; error?: unknown }

const REFRESH_MS = 20_000
const RETRY_MS = 2_000

/** The chains and tokens, updated regularly. A refused key is an error to show; other errors are retried. */
export function useCatalog(client: Client | undefined): CatalogState {
  const [state, setState] = useState<CatalogState>({})
  useEffect(() => {
    setState({})
    if (!client) return undefined
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async () => {
      const next = await readCatalog(client, controller.signal)
      if (controller.signal.aborted) return
      setState((last) => ({ ...last, ...next }))
      if (!isRefused(next.error)) timer = setTimeout(load, next.error ? RETRY_MS : REFRESH_MS)
    }
    void load()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [client])
  return state
}

async function readCatalog(client: Client, signal: AbortSignal): Promise<CatalogState> {
  try {
    const [{ chains }, { tokens }] = await Promise.all([
      client.chains({ signal }),
      client.tokens({}, { signal }),
    ])
    return { catalog: cleaned({ chains, tokens }), error: undefined }
  } catch (error) {
    return { error }
  }
}

/** Names of the service are shown beside the page's own words, so they must not contain invisible marks. */
function cleaned({ chains, tokens }: Catalog): Catalog {
  return {
    chains: chains.map((chain) => ({
      ...chain,
      name: plainText(chain.name),
      native: { ...chain.native, symbol: plainText(chain.native.symbol) },
    })),
    tokens: tokens.map((token) => ({ ...token, symbol: plainText(token.symbol) })),
  }
}

export function isRefused(error: unknown): boolean {
  return error instanceof GeoswapError && error.status === 401
}

export function chainOf({ chains }: Catalog, chainId: number): ChainEntry | undefined {
  return chains.find((chain) => chain.chainId === chainId)
}

export function tokenOf({ tokens }: Catalog, chainId: number, address: string): TokenEntry | undefined {
  return tokens.find((token) => token.chainId === chainId && isSameAddress(token.address, address))
}

// Hex is case-insensitive, base58 is not.
function isSameAddress(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase())
}
