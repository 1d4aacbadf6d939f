import { fromCallbacks, fromKitSigner, SwapRefusedError } from '@geoswap/sdk'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { keep, readSecret } from '../storage.ts'
import { type Family, iconOf, type Wallet, type WalletOffer } from './family.ts'

const family = 'solana'

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
      'standard:connect': { connect(input?: { silent: boolean }): Promise<{ accounts: readonly Account[] }> }
      'solana:signTransaction': {
        signTransaction(...inputs: SignInput[]): Promise<readonly { signedTransaction: Uint8Array }[]>
      }
    }>
  >
}
// By the chain ids of the service.
const CHAINS: Readonly<Record<number, string>> = { 792703809: 'solana:mainnet', 792703810: 'solana:devnet' }

type Register = { register(...wallets: StandardWallet[]): () => void }

/** Reports every wallet of the browser, now and later. */
function onWallet(report: (offer: WalletOffer) => void): () => void {
  const api: Register = {
    register(...wallets) {
      for (const wallet of wallets.filter(canSign)) report(toOffer(wallet))
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
    family,
    icon: iconOf(wallet.icon),
    connect: () => connect(wallet),
    reconnect: () => find(wallet, { silent: true }),
  }
}

async function connect(wallet: StandardWallet): Promise<Wallet> {
  const found = await find(wallet)
  if (!found) throw new Error(`${wallet.name} shared no account. Unlock it and try again.`)
  return found
}

async function find(wallet: StandardWallet, input?: { silent: boolean }): Promise<Wallet | undefined> {
  const { name, features, chains } = wallet
  const { accounts } = (await features['standard:connect']?.connect(input)) ?? wallet
  const [account] = accounts
  if (!account) return undefined
  const { address } = account
  return {
    id: `solana ${name}`,
    name,
    family,
    address,
    signerFor(chainId) {
      const chain = CHAINS[chainId] ?? 'solana:localnet'
      if (!chains.includes(chain)) return undefined
      const signTransaction = (base64: string) => sign(wallet, { account, chain }, base64)
      return fromCallbacks({ family, address, signTransaction })
    },
  }
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
const textOf = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))

/** The wallet adds its signature. Some add instructions too: the service takes no such transaction. */
async function sign(
  { name, features }: StandardWallet,
  { account, chain }: Omit<SignInput, 'transaction'>,
  base64: string,
): Promise<string> {
  const transaction = bytesOf(base64)
  const [signed] =
    (await features['solana:signTransaction']?.signTransaction({ account, transaction, chain })) ?? []
  if (!signed) throw new SwapRefusedError('SIGNER', `${name} signed nothing.`)
  const { signedTransaction } = signed
  if (textOf(messageOf(signedTransaction)) === textOf(messageOf(bytesOf(base64))))
    return textOf(signedTransaction)
  throw new SwapRefusedError('SIGNER', `${name} changed the transaction, so it cannot be used.`)
}

/** A transaction is the number of its signatures, then those of 64 bytes each, then the signed message. */
const messageOf = (transaction: Uint8Array) => transaction.subarray(1 + 64 * (transaction[0] ?? 0))

const BURNER = 'burner-solana'

/** The test wallet of this tab: its key is created here and gone with the tab. */
async function openBurner(): Promise<Wallet> {
  const seed = readSecret<number[]>(BURNER) ?? [...crypto.getRandomValues(new Uint8Array(32))]
  keep(BURNER, seed)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  return {
    id: BURNER,
    name: 'Test wallet',
    family,
    address: signer.address,
    signerFor: () => fromKitSigner(signer),
  }
}

type TokenAccounts = { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[]
const commitment = 'confirmed'

export const solana: Family = {
  words: {
    title: 'Solana',
    walletsFor: 'For Solana',
    walletStandard: 'the wallet standard',
    anAddress: 'a Solana address',
    trust: 'On Solana you trust the operator not to replace the program that holds it.',
  },
  isAddress: (text) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text),
  canRefund: false,
  onWallet,
  burner: { id: BURNER, name: 'Test wallet', family, connect: openBurner },
  balance: {
    toCall({ native, address }, owner) {
      if (native) return { method: 'getBalance', params: [owner, { commitment }] }
      const asked = [owner, { mint: address }, { commitment, encoding: 'jsonParsed' }]
      return { method: 'getTokenAccountsByOwner', params: asked }
    },
    toAmount({ native }, reply) {
      const { value } = reply as { value: unknown }
      if (native) return BigInt(value as number)
      const amounts = (value as TokenAccounts).map(
        ({ account }) => account.data.parsed.info.tokenAmount.amount,
      )
      return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)
    },
  },
}
