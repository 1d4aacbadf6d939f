import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { useState } from 'preact/hooks'
import { formatExact, formatUnits } from '../amounts.ts'
import { askFaucet } from '../chain/faucet.ts'
import { useBalance } from '../chain/use-balance.ts'
import { useSession } from '../service/session.ts'

type Props = { chain: ChainEntry; token: TokenEntry; onAll?(amount: string): void }

/** The wallet's balance of a token, and on a local network a button for more. */
export function Funds({ chain, token, onAll }: Props) {
  const { settings, wallets } = useSession()
  const owner = wallets.used[chain.family]?.address
  const rpcUrl = settings.rpcUrls[chain.chainId]
  const { balance, refresh } = useBalance(owner && rpcUrl ? { chain, token, owner, rpcUrl } : undefined)
  const [state, setState] = useState<'idle' | 'asking' | string>('idle')
  const { local } = settings
  if (!rpcUrl) return null

  const ask = async () => {
    if (!local || !owner) return
    setState('asking')
    const problem = await askFaucet(local.faucetUrl, { token, owner }).then(
      () => 'idle',
      (error: Error) => error.message,
    )
    setState(problem)
    refresh()
  }
  return (
    <div class="funds">
      <span role="status">
        {balance === undefined ? 'Balance –' : `Balance ${formatUnits(balance, token)}`}
      </span>
      {onAll && balance !== undefined && balance > 0n && (
        <button type="button" class="quiet" onClick={() => onAll(formatExact(balance, token.decimals))}>
          All
        </button>
      )}
      {local && (
        <button type="button" class="quiet" onClick={ask} disabled={!owner || state === 'asking'}>
          {state === 'asking' ? 'Asking the faucet…' : `Get test ${token.symbol}`}
        </button>
      )}
      {state !== 'idle' && state !== 'asking' && <span role="alert">{state}</span>}
    </div>
  )
}
