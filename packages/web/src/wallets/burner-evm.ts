import { fromViemAccount } from '@geoswap/sdk'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { callNode } from '../chain/rpc.ts'
import { keep, readSecret } from '../storage.ts'
import type { EvmCall, Wallet } from './wallet.ts'

const NAME = 'burner-evm'

/** The test wallet of this tab on EVM chains: its key is created here and gone with the tab. */
export async function openEvmBurner(): Promise<Wallet> {
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
