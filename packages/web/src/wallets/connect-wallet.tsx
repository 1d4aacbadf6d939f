import { shorten } from '../amounts.ts'
import { Dialog } from '../parts/dialog.tsx'
import type { Wallets } from './use-wallets.ts'
import { WalletList } from './wallet-list.tsx'

const FAMILIES = [
  ['evm', 'For EVM chains'],
  ['solana', 'For Solana'],
] as const

/** The wallets in use, and a dialog to choose others. */
export function ConnectWallet({ wallets }: { wallets: Wallets }) {
  const { used, isChoosing, choose, endChoice } = wallets
  const addresses = FAMILIES.flatMap(([family]) => used[family]?.address ?? [])
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
          {FAMILIES.map(([family, title]) => (
            <section key={family} class="stack" aria-label={title}>
              <h3>{title}</h3>
              <WalletList wallets={wallets} family={family} onConnect={endChoice} />
            </section>
          ))}
        </Dialog>
      )}
    </>
  )
}
