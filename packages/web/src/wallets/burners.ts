import { fromKitSigner, fromViemAccount } from '@geoswap/sdk'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { callNode } from '../chain/rpc.ts'
import { keep, readSecret } from '../storage.ts'
import type { EvmCall, Wallet, WalletOffer } from './wallet.ts'

const NAME = 'burner-evm'

/** The test wallet of this tab on EVM chains: its key is created here and gone with the tab. */
async function openEvmBurner(): Promise<Wallet> {
  const privateKey = readSecret<Hex>(NAME) ?? generatePrivateKey()
  keep(NAME, privateKey)
  const account = privateKeyToAccount(privateKey)
  return {
    id: NAME,
    name: 'Test wallet',
    family: 'evm',
    address: account.address,
    signer: fromViemAccount(account),
    send: (call) => send(account, call),
  }
}

/** Only for test networks: nobody competes for blocks there, so twice the node's price is enough. */
async function send(
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

const SOLANA_NAME = 'burner-solana'

/** The test wallet of this tab on Solana: its key is created here and gone with the tab. */
async function openSolanaBurner(): Promise<Wallet> {
  const seed = readSecret<number[]>(SOLANA_NAME) ?? [...crypto.getRandomValues(new Uint8Array(32))]
  keep(SOLANA_NAME, seed)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  return {
    id: SOLANA_NAME,
    name: 'Test wallet',
    family: 'solana',
    address: signer.address,
    signer: fromKitSigner(signer),
  }
}

/** Only offered on a local network, where tokens are free. */
export const burners: readonly WalletOffer[] = [
  { id: 'burner-evm', name: 'Test wallet', family: 'evm', connect: openEvmBurner },
  { id: 'burner-solana', name: 'Test wallet', family: 'solana', connect: openSolanaBurner },
]
