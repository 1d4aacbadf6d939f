import { openEvmBurner } from './burner-evm.ts'
import { openSolanaBurner } from './burner-solana.ts'
import type { WalletOffer } from './wallet.ts'

/** Only offered on a local network, where tokens are free. */
export const burners: readonly WalletOffer[] = [
  { id: 'burner-evm', name: 'Test wallet', family: 'evm', connect: openEvmBurner },
  { id: 'burner-solana', name: 'Test wallet', family: 'solana', connect: openSolanaBurner },
]
