import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { useState } from 'preact/hooks'
import { writeAmount } from '../amount-text.ts'
import { formatUnits } from '../amounts.ts'
import { type Balance, useBalance } from '../chain/balance.ts'
import { askFaucet } from '../chain/faucet.ts'
import { decimalMark } from '../language.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { useSession } from '../service/session.ts'

type Props = { chain: ChainEntry; token: TokenEntry; funds: Balance; onAll?(amount: string): void }

/** The wallet's balance of a token, and on a local network a button for more. */
export function Funds({ chain, token, funds, onAll }: Props) {
  const { settings, wallets } = useSession()
  const { balance, refresh } = funds
  const owner = wallets.used[chain.family]?.address
  const [state, setState] = useState<'idle' | 'asking' | string>('idle')
  const { local } = settings
  if (!settings.rpcUrls[chain.chainId]) return null

  const ask = async () => {
    if (!local || !owner) return
    setState('asking')
    const problem = await askFaucet(local.faucetUrl, { token, owner }).then(
      () => 'idle',
      (error: Error) => error.message,
    )
    setState(problem)
    void refresh()
  }
  return (
    <div class="funds">
      <span role="status">
        {balance === undefined ? 'Balance –' : `Balance ${formatUnits(balance, token)}`}
      </span>
      {onAll && balance !== undefined && balance > 0n && (
        <button
          type="button"
          class="quiet"
          onClick={() => onAll(writeAmount(balance, { decimals: token.decimals, mark: decimalMark }))}
        >
          All
        </button>
      )}
      {local && (
        <ActionButton class="quiet" onClick={ask} isDisabled={!owner || state === 'asking'}>
          {state === 'asking' ? 'Asking the faucet…' : `Get test ${token.symbol}`}
        </ActionButton>
      )}
      {state !== 'idle' && state !== 'asking' && <span role="alert">{state}</span>}
    </div>
  )
}

/** The balance of the wallet in use; unknown without a node of the chain. */
export function useFunds(chain: ChainEntry | undefined, token: TokenEntry | undefined): Balance {
  const { settings, wallets } = useSession()
  const owner = chain && wallets.used[chain.family]?.address
  const rpcUrl = chain && settings.rpcUrls[chain.chainId]
  return useBalance(chain && token && owner && rpcUrl ? { chain, token, owner, rpcUrl } : undefined)
}
