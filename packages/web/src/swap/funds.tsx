import type { ChainEntry, TokenEntry } from '@geoswap/sdk'
import { useState } from 'preact/hooks'
import { decimalMark, writeAmount } from '../amount-text.ts'
import { formatUnits } from '../amounts.ts'
import { type Balance, useBalance } from '../chain/balance.ts'
import { ActionButton } from '../parts/focus.tsx'
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

const GIFT_USD = 1_000

/** An amount worth about a thousand dollars, in whole tokens. */
export function giftOf({ decimals, priceUsd }: Pick<TokenEntry, 'decimals' | 'priceUsd'>): bigint {
  const price = Math.max(0.01, Number(priceUsd ?? 1))
  return BigInt(Math.max(1, Math.round(GIFT_USD / price))) * 10n ** BigInt(decimals)
}

/** Requests tokens from the faucet of a local network, and returns once the balance has arrived. */
async function askFaucet(
  faucetUrl: string,
  { token, owner }: { token: TokenEntry; owner: string },
): Promise<void> {
  const { chainId, address } = token
  const gift = { chainId, address: owner, token: address, amount: giftOf(token).toString() }
  const response = await fetch(faucetUrl, { method: 'POST', body: JSON.stringify(gift) })
  if (response.ok) return
  const { message } = (await response.json()) as { message?: string }
  throw new Error(`The faucet refused: ${message ?? response.status}`)
}
