import {
  type Address,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  type Hex,
  type PrivateKeyAccount,
  type PublicClient,
} from 'viem'
import { createEvmClients } from '../chains/evm/client.ts'
import { describeError, UsageError } from '../command.ts'
import type { EvmChainConfig } from '../config.ts'

type Transaction = { to: Address; data?: Hex; value?: bigint }
export type Included = { gasUsed: bigint; cost: bigint; txHash: Hex }

/** A chain on which a command sends transactions of one key, each after the one before is in a block. */
export type ChainWallet = {
  client: PublicClient
  send(transaction: Transaction): Promise<Included>
  /** Waits for a transaction that is already sent. Throws if it was reverted. */
  settle(txHash: Hex): Promise<Included>
}

/** Throws if the node serves another chain, before anything is sent. */
export async function openWallet(
  config: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<ChainWallet> {
  const transport = custom(createEvmClients({ urls: config.rpcUrls }).client)
  const chain = toChain(config)
  const client = createPublicClient({ chain, transport, pollingInterval: Math.min(config.blockMs, 4_000) })
  const actual = await client.getChainId().catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}`, { cause: error })
  })
  if (actual !== config.chainId) {
    throw new UsageError(`${config.name}: the node serves chain ${actual}, not ${config.chainId}`)
  }

  async function settle(txHash: Hex): Promise<Included> {
    const { status, gasUsed, effectiveGasPrice } = await client.waitForTransactionReceipt({ hash: txHash })
    if (status !== 'success') throw new Error(`${config.name}: transaction ${txHash} was reverted`)
    return { gasUsed, cost: gasUsed * effectiveGasPrice, txHash }
  }

  return {
    client,
    settle,
    async send(transaction) {
      if (!account) throw new Error('A key is required to send')
      const wallet = createWalletClient({ account, chain, transport })
      return settle(await wallet.sendTransaction(transaction))
    },
  }
}

/** Refuses while a transaction of the key is pending: a second one could pay twice. */
export async function refusePending(
  { client }: Pick<ChainWallet, 'client'>,
  { name }: Pick<EvmChainConfig, 'name'>,
  address: Address,
): Promise<void> {
  const [next, pending] = await Promise.all([
    client.getTransactionCount({ address }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  if (pending > next)
    throw new UsageError(`A transaction of ${address} on ${name} is pending (nonce ${next}). Wait for it.`)
}

function toChain({ chainId, name, native, rpcUrls }: EvmChainConfig) {
  const nativeCurrency = { name: native.symbol, symbol: native.symbol, decimals: 18 }
  return defineChain({ id: chainId, name, nativeCurrency, rpcUrls: { default: { http: rpcUrls } } })
}
