import {
  bestMethod,
  type ChainEntry,
  type DelegationReply,
  type OriginMethod,
  type QuoteReply,
  type TokenEntry,
} from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import type { Wallet } from '../families/family.ts'
import { Notice } from '../parts/notice.tsx'
import { useSession } from '../service/session.ts'

/** How a wallet pays; `asking` until the service has said what it can do. */
export type Way = OriginMethod | 'none' | 'asking'

type Paying = {
  chain: ChainEntry | undefined
  token: TokenEntry | undefined
  wallet: Wallet | undefined
  quote: QuoteReply | undefined
}

/** The way in which the SDK will have this wallet pay. */
export function useWay({ chain, token, wallet, quote }: Paying): Way {
  const { client } = useSession()
  const [delegation, setDelegation] = useState<DelegationReply | 'unknown'>()
  const chainId = chain?.chainId
  const walletAddress = wallet?.plainSigner?.address
  useEffect(() => {
    setDelegation(undefined)
    if (chainId === undefined || walletAddress === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    client
      .delegation({ chainId, walletAddress }, { signal })
      // The swap itself reports an unknown state.
      .then(setDelegation, () => signal.aborted || setDelegation('unknown'))
    return () => controller.abort()
  }, [client, chainId, walletAddress])
  if (!wallet?.plainSigner || delegation === 'unknown') return 'delegation'
  if (!delegation) return 'asking'
  if (delegation.originReady) return 'delegation'
  const methods = quote?.originMethods?.map(({ method }) => method) ?? token?.originMethods ?? []
  const method = bestMethod(wallet.plainSigner, methods, delegation)
  return method === 'delegation' ? 'none' : method
}

/** Whether the wallet sends the input itself, and so pays gas. */
export const isSent = (way: Way | undefined): boolean => way === 'transfer' || way === 'deposit'

type Props = { way: Way; chain: ChainEntry; token: TokenEntry; wallet: Wallet }

/** Says in one sentence how a wallet that signs no EIP-7702 authorization pays this token, or that it cannot. */
export function WayNote({ way, chain, token, wallet }: Props) {
  if (way === 'asking' || way === 'delegation') return null
  if (way === 'none')
    return (
      <Notice tone="warn">
        <p>
          <strong>
            {wallet.name} cannot pay {token.symbol} from {chain.name} here.
          </strong>{' '}
          It signs no EIP-7702 authorization for a page. Use a token that takes signatures, such as USDC.
        </p>
      </Notice>
    )
  const standard = way === 'permit' ? 'EIP-2612' : 'EIP-3009'
  return (
    <Notice>
      <p>
        {wallet.name} pays {token.symbol} with one{' '}
        {isSent(way)
          ? `ordinary transaction, and its gas in ${chain.native.symbol}.`
          : `signature that the token itself takes (${standard}): no gas coin and no set-up.`}
      </p>
    </Notice>
  )
}
