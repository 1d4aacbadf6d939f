import { type EvmSigner, fromViemAccount } from '@geoswap/sdk'
import { type Address, createWalletClient, encodeFunctionData, erc20Abi, http, zeroAddress } from 'viem'
import type { Context } from '../context.ts'
import { type Key, toAccount } from '../keys.ts'
import type { Chain } from '../nodes/node.ts'
import { orNodeFailed } from '../nodes/node.ts'
import { getRpcUrl } from '../settings.ts'

/** A signer that pays a deposit by a transaction of its own: it needs a node and some gas coin. */
export function toPayer({ settings }: Context, key: Key, chain: Chain): EvmSigner {
  const account = toAccount(key)
  const rpcUrl = getRpcUrl(settings, chain)
  const sender = createWalletClient({ account, transport: http(rpcUrl) })
  return {
    ...fromViemAccount(account),
    sendPayment({ to, token, amount }) {
      const recipient = to as Address
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, amount] })
      const isCoin = token === zeroAddress
      const transfer = isCoin ? { to: recipient, value: amount } : { to: token as Address, data }
      return orNodeFailed(chain, sender.sendTransaction({ ...transfer, chain: null }))
    },
  }
}
