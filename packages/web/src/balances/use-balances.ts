import type { ChainEntry } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { readBalances } from '../chain/balance.ts'
import { useSession } from '../service/session.ts'
import type { ChainBalances } from './portfolio.ts'

const REFRESH_MS = 10_000

/** The balances of the wallets in use on every chain, read again regularly. */
export function useBalances(): Readonly<Record<number, ChainBalances>> {
  const { catalog, settings, wallets } = useSession()
  const [balances, setBalances] = useState<Readonly<Record<number, ChainBalances>>>({})
  const owners = { evm: wallets.used.evm?.address, solana: wallets.used.solana?.address }
  const tokenCount = catalog.tokens.length
  useEffect(() => {
    let isOver = false
    const set = (chainId: number, read: ChainBalances) => {
      if (!isOver) setBalances((all) => ({ ...all, [chainId]: read }))
    }
    const read = async (chain: ChainEntry) => {
      const owner = owners[chain.family]
      const rpcUrl = settings.rpcUrls[chain.chainId]
      if (!rpcUrl) return set(chain.chainId, 'noNode')
      if (!owner) return set(chain.chainId, 'noWallet')
      const tokens = catalog.tokens.filter(({ chainId }) => chainId === chain.chainId)
      set(chain.chainId, await readBalances({ chain, tokens, owner, rpcUrl }).catch(() => 'silent' as const))
    }
    const readAll = () => {
      for (const chain of catalog.chains) void read(chain)
    }
    setBalances({})
    readAll()
    const timer = setInterval(readAll, REFRESH_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [owners.evm, owners.solana, settings, tokenCount])
  return balances
}
