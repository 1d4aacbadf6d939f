import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Settings } from '../service/settings.ts'
import { burners } from './burners.ts'
import { onInjectedEvm } from './injected-evm.ts'
import { onStandardSolana } from './standard-solana.ts'
import type { Family, Wallet, WalletOffer } from './wallet.ts'

export type Wallets = {
  offers: readonly WalletOffer[]
  /** The current wallet of each family. */
  used: Readonly<Partial<Record<Family, Wallet>>>
  use(offer: WalletOffer, chainId?: number): Promise<void>
  /** Opens the dialog with all offers. */
  choose(): void
  endChoice(): void
  isChoosing: boolean
}

/** The wallets of this browser. On a local network the test wallets are selected at the start. */
export function useWallets(settings: Settings | undefined): Wallets {
  const [offers, setOffers] = useState<readonly WalletOffer[]>([])
  const [used, setUsed] = useState<Wallets['used']>({})
  const use = useCallback(async (offer: WalletOffer, chainId?: number) => {
    const wallet = await offer.connect(chainId)
    setUsed((all) => ({ ...all, [wallet.family]: wallet }))
  }, [])
  const [isChoosing, setChoosing] = useState(false)
  const isLocal = settings?.local !== undefined

  useEffect(() => {
    const add = (offer: WalletOffer) =>
      setOffers((all) => [...all.filter(({ id }) => id !== offer.id), offer])
    const stops = [onInjectedEvm(add), onStandardSolana(add)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])

  useEffect(() => {
    if (!isLocal) return
    setOffers((all) => [...burners, ...all])
    for (const burner of burners) void use(burner)
  }, [isLocal, use])

  const choose = useCallback(() => setChoosing(true), [])
  const endChoice = useCallback(() => setChoosing(false), [])
  return { offers, used, use, choose, endChoice, isChoosing }
}
