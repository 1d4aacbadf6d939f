import type { ChainEntry } from '@geoswap/sdk'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { shorten } from '../amounts.ts'
import type { FamilyName } from '../families/family.ts'
import { families, familyNames } from '../families/registry.ts'
import { Avatar, lettersOf } from '../parts/avatar.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Copyable } from '../parts/row.tsx'
import { useSession } from '../service/session.ts'
import { addressesOf, type Wallets } from './use-wallets.ts'

type Props = { wallets: Wallets; family: FamilyName; onConnect?(): void }

/** The wallets of one family that this browser offers, or a sentence that says what to do. */
function WalletList({ wallets, family, onConnect }: Props) {
  const [problem, setProblem] = useState<string>()
  const { title, walletStandard } = families[family].words
  const used = wallets.used[family]
  const offers = wallets.offers.filter(({ family: own }) => own === family)
  const connect = async (id: string) => {
    const offer = offers.find((each) => each.id === id)
    setProblem(undefined)
    if (!offer) return
    await wallets.use(offer).then(onConnect, (error: Error) => setProblem(error.message))
  }
  if (offers.length === 0)
    return (
      <p class="fine">
        This browser has no {title} wallet. Install one that supports {walletStandard}, then reload this page.
      </p>
    )
  return (
    <>
      {offers.map(({ id, name, icon }) => (
        <button
          key={id}
          type="button"
          class="choice"
          aria-pressed={used?.id === id}
          onClick={() => void connect(id)}
        >
          {icon ? <img class="avatar" src={icon} alt="" /> : <Avatar mark={lettersOf(name)} />}
          <span>{name}</span>
          {used?.id === id && <span class="mono fine">{shorten(used.address)}</span>}
        </button>
      ))}
      {problem && <p role="alert">{problem}</p>}
    </>
  )
}

type WalletPickerProps = {
  chain: ChainEntry
  label: 'from' | 'to'
  children?: ComponentChildren
  /** An address that takes the place of the wallet; empty for none. */
  other?: string
}

/** The wallet of one side, collapsed, since most people have one. */
export function WalletPicker({ chain, label, children, other }: WalletPickerProps) {
  const { wallets } = useSession()
  const wallet = wallets.used[chain.family]
  return (
    <details class="wallet">
      <summary>
        {other ? (
          <>
            {label} <span class="mono">{shorten(other)}</span> <span class="fine">another address</span>
          </>
        ) : wallet ? (
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
        <WalletList wallets={wallets} family={chain.family} />
        {children}
      </div>
    </details>
  )
}

/** The wallets in use, and a dialog to choose others. */
export function ConnectWallet({ wallets }: { wallets: Wallets }) {
  const { isChoosing, choose, endChoice } = wallets
  const addresses = addressesOf(wallets)
  const [first] = addresses
  return (
    <>
      <button type="button" class="connect" aria-haspopup="dialog" onClick={choose}>
        {first === undefined ? (
          'Connect wallet'
        ) : (
          <>
            <span class="unseen">Wallets: </span>
            <span class="mono">{shorten(first)}</span>
            {addresses.length > 1 && ` +${addresses.length - 1}`}
          </>
        )}
      </button>
      {isChoosing && (
        <Dialog title={first === undefined ? 'Connect wallet' : 'Wallets'} onClose={endChoice}>
          {familyNames.map((family) => (
            <section key={family} class="stack" aria-label={families[family].words.walletsFor}>
              <h3>{families[family].words.walletsFor}</h3>
              <WalletList wallets={wallets} family={family} onConnect={endChoice} />
            </section>
          ))}
        </Dialog>
      )}
    </>
  )
}
