import type { ChainEntry } from '@geoswap/sdk'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { shorten } from '../amounts.ts'
import { Copyable } from '../parts/copyable.tsx'
import { useSession } from '../service/session.ts'
import { DelegationNote } from './delegation-note.tsx'

type Props = { chain: ChainEntry; label: 'from' | 'to'; children?: ComponentChildren }

/** The wallet of one side, collapsed, since most people have one. */
export function WalletPicker({ chain, label, children }: Props) {
  const { wallets } = useSession()
  const [problem, setProblem] = useState<string>()
  const wallet = wallets.used[chain.family]
  const offers = wallets.offers.filter(({ family }) => family === chain.family)
  const choose = (id: string) => {
    const offer = offers.find((each) => each.id === id)
    setProblem(undefined)
    if (offer) wallets.use(offer, chain.chainId).catch((error: Error) => setProblem(error.message))
  }
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
        {offers.length === 0 && (
          <p class="fine">This browser has no {chain.family === 'evm' ? 'EVM' : 'Solana'} wallet.</p>
        )}
        {offers.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            class="choice"
            aria-pressed={wallet?.id === id}
            onClick={() => choose(id)}
          >
            {name}
          </button>
        ))}
        {problem && <p role="alert">{problem}</p>}
        {label === 'from' && wallet?.signer.family === 'evm' && !wallet.signer.signAuthorization && (
          <DelegationNote chain={chain} wallet={wallet} />
        )}
        {children}
      </div>
    </details>
  )
}
