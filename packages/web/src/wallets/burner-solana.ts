import { fromKitSigner } from '@geoswap/sdk'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { keep, readSecret } from '../storage.ts'
import type { Wallet } from './wallet.ts'

const NAME = 'burner-solana'

/** The test wallet of this tab on Solana: its key is created here and gone with the tab. */
export async function openSolanaBurner(): Promise<Wallet> {
  const seed = readSecret<number[]>(NAME) ?? [...crypto.getRandomValues(new Uint8Array(32))]
  keep(NAME, seed)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  return {
    id: NAME,
    name: 'Test wallet',
    family: 'solana',
    address: signer.address,
    signer: fromKitSigner(signer),
  }
}
