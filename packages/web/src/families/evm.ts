import {
  fromCallbacks,
  fromViemAccount,
  type PaymentTransaction,
  SwapRefusedError,
  type TypedData,
} from '@geoswap/sdk'
import { type Hex, isAddress } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { callNode } from '../chain/rpc.ts'
import { keep, readSecret } from '../storage.ts'
import { nameBatch, readBatch } from './batch.ts'
import { type EvmCall, type Family, iconOf, type Wallet, type WalletOffer } from './family.ts'

const family = 'evm'

/** A provider of EIP-1193, announced by EIP-6963. */
type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }
type Announcement = { info: { uuid: string; name: string; rdns: string; icon?: unknown }; provider: Provider }

/** Reports every wallet of the browser, now and later. */
function onWallet(onWallet: (offer: WalletOffer) => void): () => void {
  const onAnnounce = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    onWallet({
      id: `evm ${info.rdns}`,
      name: info.name,
      family,
      icon: iconOf(info.icon),
      connect: () => connect(info.name, info.rdns, provider),
      reconnect: () => find(info.name, info.rdns, provider, 'eth_accounts'),
    })
  }
  addEventListener('eip6963:announceProvider', onAnnounce)
  dispatchEvent(new Event('eip6963:requestProvider'))
  return () => removeEventListener('eip6963:announceProvider', onAnnounce)
}

async function connect(name: string, rdns: string, provider: Provider): Promise<Wallet> {
  const wallet = await find(name, rdns, provider, 'eth_requestAccounts')
  if (!wallet) throw new Error(`${name} shared no account. Unlock it and try again.`)
  return wallet
}

/**
 * Signs operations as typed data, which the wallet shows to its owner. No standard lets a page request an EIP-7702
 * authorization: where such a wallet is not delegated, it pays by a signature that the token itself takes, or by a
 * transaction of its own.
 */
async function find(
  name: string,
  rdns: string,
  provider: Provider,
  method: 'eth_requestAccounts' | 'eth_accounts',
): Promise<Wallet | undefined> {
  const [address] = (await provider.request({ method })) as string[]
  if (address === undefined) return undefined
  const signHash = async (hash: string) =>
    (await provider.request({ method: 'personal_sign', params: [hash, address] })) as string
  const signTypedData = async (typedData: TypedData) => {
    // Wallets refuse typed data of another chain than their current one.
    await useChain(provider, Number(typedData.domain['chainId']))
    const params = [address, JSON.stringify(typedData)]
    return (await provider.request({ method: 'eth_signTypedData_v4', params })) as string
  }
  const sendTransaction = (transaction: PaymentTransaction) => pay(provider, address, transaction)
  const signer = fromCallbacks({ family, address, signHash, signTypedData, sendTransaction })
  return {
    id: `evm ${rdns}`,
    name,
    family,
    address,
    signerFor: () => signer,
    plainSigner: signer,
    send: (call) => send(provider, address, call),
    batches: {
      async stateOf(id) {
        const asked = provider.request({ method: 'wallet_getCallsStatus', params: [id] })
        return readBatch(await asked.catch(() => undefined))
      },
    },
  }
}

const hexOf = (value: bigint | number) => `0x${value.toString(16)}`

// EIP-5792 and JSON-RPC: the wallet does not do these calls, or not on this chain. It sent nothing.
const UNABLE: readonly unknown[] = [4200, -32601, 5700, 5710, 5750, 5760]

/** Sends the input by EIP-5792 where the wallet offers it, else as an ordinary transaction. */
async function pay(provider: Provider, from: string, transaction: PaymentTransaction): Promise<string> {
  const { chainId, to, data, value } = transaction
  const chain = hexOf(chainId)
  const capabilities = { method: 'wallet_getCapabilities', params: [from, [chain]] }
  const offered = await provider.request(capabilities).catch(() => undefined)
  if (typeof offered !== 'object' || offered === null || !(chain in offered))
    return send(provider, from, transaction)
  const calls = [{ to, data, value: hexOf(value) }]
  const batch = { version: '2.0.0', from, chainId: chain, atomicRequired: false, calls }
  try {
    const sent = await provider.request({ method: 'wallet_sendCalls', params: [batch] })
    return nameBatch(typeof sent === 'string' ? sent : (sent as { id: string }).id)
  } catch (error) {
    if (!UNABLE.includes((error as { code?: unknown } | null)?.code)) throw error
    return send(provider, from, transaction)
  }
}

type Sent = Pick<EvmCall, 'chainId' | 'to' | 'data'> & { value?: bigint; gas?: bigint }

/** The transaction names its chain: a wallet that was switched meanwhile refuses it. */
async function send(provider: Provider, from: string, { chainId, to, data, value = 0n, gas }: Sent) {
  await useChain(provider, chainId)
  const named = { from, to, data, value: hexOf(value), chainId: hexOf(chainId) }
  const transaction = gas === undefined ? named : { ...named, gas: hexOf(gas) }
  return (await provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
}

async function useChain(provider: Provider, chainId: number): Promise<void> {
  const params = [{ chainId: hexOf(chainId) }]
  if ((await provider.request({ method: 'eth_chainId' })) === hexOf(chainId)) return
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params })
  } catch (cause) {
    const message = `The wallet is on another chain and does not switch to chain ${chainId}. Switch it there.`
    throw new SwapRefusedError('SIGNER', message, { cause })
  }
}

const BURNER = 'burner-evm'

/** The test wallet of this tab on EVM chains: its key is created here and gone with the tab. */
async function openBurner(): Promise<Wallet> {
  const privateKey = readSecret<Hex>(BURNER) ?? generatePrivateKey()
  keep(BURNER, privateKey)
  const account = privateKeyToAccount(privateKey)
  return {
    id: BURNER,
    name: 'Test wallet',
    family,
    address: account.address,
    signerFor: () => fromViemAccount(account),
    send: (call) => sendFromBurner(account, call),
  }
}

/** Only for test networks: nobody competes for blocks there, so twice the node's price is enough. */
async function sendFromBurner(
  account: PrivateKeyAccount,
  { chainId, rpcUrl, to, data, gas }: EvmCall,
): Promise<string> {
  const [nonce, price] = await Promise.all([
    callNode<string>(rpcUrl, 'eth_getTransactionCount', [account.address, 'pending']),
    callNode<string>(rpcUrl, 'eth_gasPrice', []),
  ])
  const gasPrice = BigInt(price) * 2n
  const signed = await account.signTransaction({ chainId, to, data, gas, nonce: Number(nonce), gasPrice })
  return callNode<string>(rpcUrl, 'eth_sendRawTransaction', [signed])
}

// The first four bytes of keccak256('balanceOf(address)').
const BALANCE_OF = '0x70a08231'

export const evm: Family = {
  words: {
    title: 'EVM',
    walletsFor: 'For EVM chains',
    walletStandard: 'EIP-6963',
    anAddress: 'an EVM address',
    trust: '',
  },
  isAddress: (text) => isAddress(text),
  canRefund: true,
  onWallet,
  burner: { id: BURNER, name: 'Test wallet', family, connect: openBurner },
  balance: {
    toCall({ native, address }, owner) {
      if (native) return { method: 'eth_getBalance', params: [owner, 'latest'] }
      const data = `${BALANCE_OF}${owner.slice(2).toLowerCase().padStart(64, '0')}`
      return { method: 'eth_call', params: [{ to: address, data }, 'latest'] }
    },
    toAmount: (_token, reply) => BigInt(reply as string),
  },
}
