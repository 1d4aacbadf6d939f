import { useCallback, useEffect, useState } from 'preact/hooks'
import type { FamilyName, Wallet, WalletOffer } from '../families/family.ts'
import { families, familyNames } from '../families/registry.ts'
import type { Settings } from '../service/client.ts'
import { keep, readStored } from '../storage.ts'

export type Wallets = {
  offers: readonly WalletOffer[]
  /** The current wallet of each family. */
  used: Readonly<Partial<Record<FamilyName, Wallet>>>
  use(offer: WalletOffer): Promise<void>
  /** Opens the dialog with all offers. */
  choose(): void
  endChoice(): void
  isChoosing: boolean
}

/** The addresses of the wallets in use, in the order of the families. */
export const addressesOf = ({ used }: Pick<Wallets, 'used'>): string[] =>
  familyNames.flatMap((family) => used[family]?.address ?? [])

type SetUsed = (change: (all: Wallets['used']) => Wallets['used']) => void
/** The ids of the wallets that the user chose last. */
type Remembered = Partial<Record<FamilyName, string>>
const NAME = 'wallets'
const all = Object.values(families)

/** After a reload: a wallet that is locked, or no longer shares its account, is chosen again by the user. */
async function resume(offer: WalletOffer, setUsed: SetUsed): Promise<void> {
  const wallet = await offer.reconnect?.().catch(() => undefined)
  if (wallet) setUsed((all) => ({ ...all, [wallet.family]: wallet }))
}

/** Uses a wallet of a family that has none yet. */
async function useFirst(offer: WalletOffer, setUsed: SetUsed): Promise<void> {
  const wallet = await offer.connect()
  setUsed((all) => ({ [wallet.family]: wallet, ...all }))
}

/**
 * The wallets of this browser. The browser wallet that was used last is connected again. On a local network the test
 * wallets are selected at the start.
 */
export function useWallets(settings: Settings | undefined): Wallets {
  const [offers, setOffers] = useState<readonly WalletOffer[]>([])
  const [used, setUsed] = useState<Wallets['used']>({})
  const use = useCallback(async (offer: WalletOffer) => {
    const wallet = await offer.connect()
    setUsed((all) => ({ ...all, [wallet.family]: wallet }))
    keep(NAME, { ...readStored<Remembered>(NAME), [wallet.family]: wallet.id }, 'browser')
  }, [])
  const [isChoosing, setChoosing] = useState(false)
  const isLocal = settings?.local !== undefined

  useEffect(() => {
    const add = (offer: WalletOffer) => {
      setOffers((offers) => [...offers.filter(({ id }) => id !== offer.id), offer])
      if (readStored<Remembered>(NAME)?.[offer.family] === offer.id) void resume(offer, setUsed)
    }
    const stops = all.map(({ onWallet }) => onWallet(add))
    return () => {
      for (const stop of stops) stop()
    }
  }, [])

  useEffect(() => {
    if (!isLocal) return
    const burners = all.map(({ burner }) => burner)
    setOffers((offers) => [...burners, ...offers])
    for (const burner of burners) void useFirst(burner, setUsed)
  }, [isLocal])

  const choose = useCallback(() => setChoosing(true), [])
  const endChoice = useCallback(() => setChoosing(false), [])
  return { offers, used, use, choose, endChoice, isChoosing }
}
