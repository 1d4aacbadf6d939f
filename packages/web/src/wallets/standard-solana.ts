import { fromCallbacks } from '@geoswap/sdk'
import { iconOf, type Wallet, type WalletOffer } from './wallet.ts'

// The parts of the wallet standard that are needed to sign a transaction.
type Account = { address: string }
type SignInput = { account: Account; transaction: Uint8Array; chain: string }
type StandardWallet = {
  name: string
  icon?: unknown
  chains: readonly string[]
  accounts: readonly Account[]
  features: Readonly<
    Partial<{
      'standard:connect': { connect(): Promise<{ accounts: readonly Account[] }> }
      'solana:signTransaction': {
        signTransaction(...inputs: SignInput[]): Promise<readonly { signedTransaction: Uint8Array }[]>
      }
    }>
  >
}
// By the chain ids of the service.
const CHAINS: Readonly<Record<number, string>> = { 792703809: 'solana:mainnet', 792703810: 'solana:devnet' }

type Register = { register(...wallets: StandardWallet[]): () => void }

/** Reports every Solana wallet of the browser, now and later. */
export function onStandardSolana(onWallet: (offer: WalletOffer) => void): () => void {
  const api: Register = {
    register(...wallets) {
      for (const wallet of wallets.filter(canSign)) onWallet(toOffer(wallet))
      return () => {}
    },
  }
  const onRegister = (event: Event) => (event as CustomEvent<(api: Register) => void>).detail(api)
  addEventListener('wallet-standard:register-wallet', onRegister)
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
  return () => removeEventListener('wallet-standard:register-wallet', onRegister)
}

function canSign({ features, chains }: StandardWallet): boolean {
  const isSolana = chains.some((chain) => chain.startsWith('solana:'))
  return isSolana && 'standard:connect' in features && 'solana:signTransaction' in features
}

function toOffer(wallet: StandardWallet): WalletOffer {
  const { name } = wallet
  return {
    id: `solana ${name}`,
    name,
    family: 'solana',
    icon: iconOf(wallet.icon),
    connect: (chainId) => connect(wallet, CHAINS[chainId ?? 0] ?? 'solana:localnet'),
  }
}

async function connect(wallet: StandardWallet, chain: string): Promise<Wallet> {
  const { name, features } = wallet
  const { accounts } = (await features['standard:connect']?.connect()) ?? wallet
  const [account] = accounts
  if (!account) throw new Error(`${name} shared no account. Unlock it and try again.`)
  const signTransaction = async (base64: string) => {
    const transaction = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    const [signed] =
      (await features['solana:signTransaction']?.signTransaction({ account, transaction, chain })) ?? []
    if (!signed) throw new Error(`${name} signed nothing.`)
    return btoa(String.fromCharCode(...signed.signedTransaction))
  }
  const { address } = account
  return {
    id: `solana ${name}`,
    name,
    family: 'solana',
    address,
    signer: fromCallbacks({ family: 'solana', address, signTransaction }),
  }
}
