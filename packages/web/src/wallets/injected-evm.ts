import { fromCallbacks } from '@geoswap/sdk'
import type { EvmCall, Wallet, WalletOffer } from './wallet.ts'

/** A provider as EIP-1193 has it, announced as EIP-6963 says. */
type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }
type Announcement = { info: { uuid: string; name: string; rdns: string }; provider: Provider }

/** Tells of every EVM wallet that the browser has, now and later. */
export function onInjectedEvm(tell: (offer: WalletOffer) => void): () => void {
  const hear = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    tell({
      ...{ id: `evm ${info.rdns}`, name: info.name, family: 'evm' },
      connect: () => connect(info.name, info.rdns, provider),
    })
  }
  addEventListener('eip6963:announceProvider', hear)
  dispatchEvent(new Event('eip6963:requestProvider'))
  return () => removeEventListener('eip6963:announceProvider', hear)
}

/**
 * It signs operations by personal_sign. No standard lets a page ask for an EIP-7702 authorization, so such a
 * wallet can swap only where it is delegated already.
 */
async function connect(name: string, rdns: string, provider: Provider): Promise<Wallet> {
  const [address] = (await provider.request({ method: 'eth_requestAccounts' })) as string[]
  if (address === undefined) throw new Error(`${name} shared no account. Unlock it and try again.`)
  const signHash = async (hash: string) =>
    (await provider.request({ method: 'personal_sign', params: [hash, address] })) as string
  return {
    ...{ id: `evm ${rdns}`, name, family: 'evm', address },
    signer: fromCallbacks({ family: 'evm', address, signHash }),
    send: (call) => send(provider, address, call),
  }
}

async function send(provider: Provider, from: string, { chainId, to, data, gas }: EvmCall): Promise<string> {
  const chain = [{ chainId: `0x${chainId.toString(16)}` }]
  await provider.request({ method: 'wallet_switchEthereumChain', params: chain })
  const transaction = { from, to, data, gas: `0x${gas.toString(16)}` }
  return (await provider.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
}
