import type { ChainEntry } from '@geoswap/sdk'
import type { ComponentChildren } from 'preact'
import { shorten } from '../amounts.ts'
import { Copyable } from '../parts/copyable.tsx'
import { useSession } from '../service/session.ts'
import { WalletList } from './wallet-list.tsx'

type Props = { chain: ChainEntry; label: 'from' | 'to'; children?: ComponentChildren }

/** The wallet of one side, collapsed, since most people have one. */
export function WalletPicker({ chain, label, children }: Props) {
  const { wallets } = useSession()
  const wallet = wallets.used[chain.family]
  return (
    <details class="wallet">
      <summary>
        {wallet ? (
          <>
            {label} <span class="mono">{shorten(wallet.address)}</span>{' '}
            <span class="fine">{wallet.name}</span>
          </>
        ) : (
          `Connect a wallet for ${chain.name}`
        )}
      </summary>
      <div class="stack">
        {wallet && <Copyable text={wallet.address} label="address" whole />}
        <WalletList wallets={wallets} family={chain.family} chainId={chain.chainId} />
        {children}
      </div>
    </details>
  )
}
