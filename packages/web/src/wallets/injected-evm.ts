import { fromCallbacks, type TypedData } from '@geoswap/sdk'
import { type EvmCall, iconOf, type Wallet, type WalletOffer } from './wallet.ts'

/** A provider of EIP-1193, announced by EIP-6963. */
type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }
type Announcement = { info: { uuid: string; name: string; rdns: string; icon?: unknown }; provider: Provider }

/** Reports every EVM wallet of the browser, now and later. */
export function onInjectedEvm(onWallet: (offer: WalletOffer) => void): () => void {
  const onAnnounce = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    onWallet({
      id: `evm ${info.rdns}`,
      name: info.name,
      family: 'evm',
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
 * authorization: where such a wallet is not delegated, it pays by a signature that the token itself takes.
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
  return {
    id: `evm ${rdns}`,
    name,
    family: 'evm',
    address,
    signer: fromCallbacks({ family: 'evm', address, signHash, signTypedData }),
    send: (call) => send(provider, address, call),
  }
}

async function send(provider: Provider, from: string, { chainId, to, data, gas }: EvmCall): Promise<string> {
  await useChain(provider, chainId)
  const transaction = { from, to, data, gas: `0x${gas.toString(16)}` }
  return (await provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
}

async function useChain(provider: Provider, chainId: number): Promise<void> {
  const hex = `0x${chainId.toString(16)}`
  if ((await provider.request({ method: 'eth_chainId' })) === hex) return
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hex }] })
}
