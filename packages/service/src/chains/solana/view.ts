import type { Chain } from '../chain.ts'
import type { ViewReader } from '../view.ts'
import { readAccounts } from './accounts.ts'
import type { SolanaBlock } from './heads.ts'
import type { SolanaParts } from './parts.ts'

type Options = {
  parts: Pick<SolanaParts, 'client'>
  chain: Pick<Chain, 'readLegCosts' | 'readHoldings'>
  /** The keys whose native balances are read. */
  keys: readonly string[]
}

/** Reads the parts of a Solana chain's view, which has no feeds, pools or limits. */
export function createSolanaViewReader({ parts, chain, keys }: Options): ViewReader {
  return {
    readCosts: (at) => chain.readLegCosts(at),
    async readState({ head }) {
      const { commitment, number: minContextSlot } = head as SolanaBlock
      const [accounts, holdings] = await Promise.all([
        readAccounts(parts.client.agreed, { addresses: keys, commitment, minContextSlot }),
        chain.readHoldings(head),
      ])
      const balances = Object.fromEntries(
        keys.map((key, index) => [key, accounts[index]?.lamports ?? 0n] as const),
      )
      return { rounds: {}, balances, holdings, claimCaps: {}, seconds: head.seconds }
    },
    readPools: async () => [],
  }
}
