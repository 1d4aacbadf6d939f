import { bestMethod, type ChainEntry, type DelegationReply, type TokenEntry } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import type { Wallet } from '../families/family.ts'
import { Notice } from '../parts/notice.tsx'
import { useSession } from '../service/session.ts'

type Props = { chain: ChainEntry; token: TokenEntry; wallet: Wallet }

/** Says in one sentence how a wallet that signs no EIP-7702 authorization pays this token, or that it cannot. */
export function WayNote({ chain, token, wallet }: Props) {
  const { client } = useSession()
  const [delegation, setDelegation] = useState<DelegationReply>()
  const { chainId } = chain
  useEffect(() => {
    const controller = new AbortController()
    setDelegation(undefined)
    client
      .delegation({ chainId, walletAddress: wallet.address }, { signal: controller.signal })
      // An unknown state is not shown: the swap itself reports it.
      .then(setDelegation, () => {})
    return () => controller.abort()
  }, [client, chainId, wallet.address])
  const { plainSigner } = wallet
  if (!delegation || delegation.originReady || !plainSigner) return null
  const method = bestMethod(plainSigner, token.originMethods ?? [], delegation)
  if (method !== 'delegation')
    return (
      <Notice>
        <p>
          {wallet.name} pays {token.symbol} with one signature that the token itself takes (
          {STANDARDS[method]}): no gas coin and no set-up.
        </p>
      </Notice>
    )
  return (
    <Notice tone="warn">
      <p>
        <strong>
          {wallet.name} cannot pay {token.symbol} from {chain.name} yet.
        </strong>{' '}
        Its first swap needs an EIP-7702 authorization, which no browser wallet signs for a page. Pay by a
        transfer where that is offered, with a token that takes signatures, such as USDC, or make the first
        swap with the command line.
      </p>
    </Notice>
  )
}

const STANDARDS = {
  authorization: 'EIP-3009',
  permit: 'EIP-2612',
  deposit: 'a transfer',
  transfer: 'a transfer',
}
