import type { ChainEntry } from '@geoswap/sdk'
import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../parts/notice.tsx'
import { useSession } from '../service/session.ts'
import type { Wallet } from './wallet.ts'

/** Warns the owner of a wallet that cannot sign authorizations if it cannot swap on this chain. */
export function DelegationNote({ chain, wallet }: { chain: ChainEntry; wallet: Wallet }) {
  const { client } = useSession()
  const [isReady, setReady] = useState<boolean>()
  const { chainId } = chain
  useEffect(() => {
    const controller = new AbortController()
    setReady(undefined)
    client
      .delegation({ chainId, walletAddress: wallet.address }, { signal: controller.signal })
      // An unknown state is not shown: the swap itself reports it.
      .then(
        ({ originReady }) => setReady(originReady),
        () => {},
      )
    return () => controller.abort()
  }, [client, chainId, wallet.address])
  if (isReady !== false) return null
  return (
    <Notice tone="warn">
      <p>
        <strong>
          {wallet.name} cannot pay from {chain.name} yet.
        </strong>{' '}
        The first swap of a wallet needs an EIP-7702 authorization, and no standard lets a web page ask a
        browser wallet for one. Make the first swap with the command line or the SDK, or pay from Solana.
        After that this wallet works here.
      </p>
    </Notice>
  )
}
