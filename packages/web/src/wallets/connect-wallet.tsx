import { shorten } from '../amounts.ts'
import { families, familyNames } from '../families/registry.ts'
import { Dialog } from '../parts/dialog.tsx'
import { addressesOf, type Wallets } from './use-wallets.ts'
import { WalletList } from './wallet-list.tsx'

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
