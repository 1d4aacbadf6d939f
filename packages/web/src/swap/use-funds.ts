import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { type Balance, useBalance } from '../chain/use-balance.ts'
import { useSession } from '../service/session.ts'

/** The balance of the wallet in use; unknown without a node of the chain. */
export function useFunds(chain: ChainEntry | undefined, token: TokenEntry | undefined): Balance {
  const { settings, wallets } = useSession()
  const owner = chain && wallets.used[chain.family]?.address
  const rpcUrl = chain && settings.rpcUrls[chain.chainId]
  return useBalance(chain && token && owner && rpcUrl ? { chain, token, owner, rpcUrl } : undefined)
}
