import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  type PublicClient,
  TransactionReceiptNotFoundError,
} from 'viem'
import { createEvmClients } from '../chains/evm/client.ts'
import { meaningOf } from '../chains/evm/refusal.ts'
import { describeError, UsageError } from '../command.ts'
import type { EvmChainConfig } from '../config.ts'
import { createFreshNode, type FreshNode, findInTime } from './fresh-node.ts'

type Transaction = { to: Address; data?: Hex; value?: bigint }
export type Included = { gasUsed: bigint; cost: bigint; txHash: Hex }

/** A chain on which a command sends transactions of one key, each after the one before is in a block. */
export type ChainWallet = {
  client: PublicClient
  send(transaction: Transaction): Promise<Included>
  /** Waits for a transaction that is already sent. Throws if it was reverted. */
  settle(txHash: Hex): Promise<Included>
  /** Reads the state at the newest block that a backend now tells, from then on. */
  refresh(): Promise<void>
}

/** Throws if the node serves another chain, before anything is sent. */
export async function openWallet(
  config: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<ChainWallet> {
  const nodes = createEvmClients({ urls: config.rpcUrls }).client
  const retryMs = Math.min(config.blockMs, MAX_POLL_MS)
  const fresh = createFreshNode(nodes.request as FreshNode['request'], { retryMs, patienceMs: LAG_MS })
  const transport = custom(fresh)
  const chain = toChain(config)
  const client = createPublicClient({ chain, transport, cacheTime: 0 })
  const actual = await client.getChainId().catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}`, { cause: error })
  })
  if (actual !== config.chainId) {
    throw new UsageError(`${config.name}: the node serves chain ${actual}, not ${config.chainId}`)
  }

  // Of several backends, one of a few answers knows the newest block.
  for (let asked = 0; asked < HEAD_READS; asked += 1) fresh.reach(await client.getBlockNumber())

  async function settle(txHash: Hex): Promise<Included> {
    const receipt = await findInTime({ retryMs, patienceMs: INCLUSION_MS }, () => findReceipt(client, txHash))
    if (!receipt) throw new Error(`${config.name}: transaction ${txHash} is still in no block`)
    const { status, gasUsed, effectiveGasPrice, blockNumber } = receipt
    fresh.reach(blockNumber)
    if (status !== 'success') throw new Error(`${config.name}: transaction ${txHash} was reverted`)
    return { gasUsed, cost: gasUsed * effectiveGasPrice, txHash }
  }

  async function send(transaction: Transaction): Promise<Included> {
    if (!account) throw new Error('A key is required to send')
    const wallet = createWalletClient({ account, chain, transport })
    const nonce = await readNonce(client, account.address)
    const prepared = await wallet.prepareTransactionRequest({ ...transaction, nonce })
    const raw = await wallet.signTransaction(prepared)
    await client.sendRawTransaction({ serializedTransaction: raw }).catch((error: unknown) => {
      if (meaningOf(error) !== 'known') throw error
    })
    return settle(keccak256(raw))
  }

  return { client, settle, send, refresh: async () => fresh.reach(await client.getBlockNumber()) }
}

// Providers keep backends within a few blocks of each other.
const LAG_MS = 30_000
const INCLUSION_MS = 180_000
const MAX_POLL_MS = 1_000
const HEAD_READS = 4
const PENDING_READS = 10
const PENDING_MS = 500

/** At least that of the block that was reached: the pool of a backend that lags may miss the last transaction. */
async function readNonce(client: PublicClient, address: Address): Promise<number> {
  const [next, pending] = await Promise.all([
    client.getTransactionCount({ address }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return Math.max(next, pending)
}

/** Undefined while the backend that answers does not have the transaction in a block. */
function findReceipt(client: PublicClient, hash: Hex) {
  return client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  })
}

/**
 * Refuses while a transaction of the key is pending: a second one could pay twice. Reads several times, since a backend
 * that lags does not have the block of the last one yet.
 */
export async function refusePending(
  { client, refresh }: Pick<ChainWallet, 'client' | 'refresh'>,
  { name }: Pick<EvmChainConfig, 'name'>,
  address: Address,
): Promise<void> {
  let next = 0
  for (let read = 0; read < PENDING_READS; read += 1) {
    next = await client.getTransactionCount({ address })
    if ((await client.getTransactionCount({ address, blockTag: 'pending' })) <= next) return
    await delay(PENDING_MS)
    await refresh()
  }
  throw new UsageError(`A transaction of ${address} on ${name} is pending (nonce ${next}). Wait for it.`)
}

function toChain({ chainId, name, native, rpcUrls }: EvmChainConfig) {
  const nativeCurrency = { name: native.symbol, symbol: native.symbol, decimals: 18 }
  return defineChain({ id: chainId, name, nativeCurrency, rpcUrls: { default: { http: rpcUrls } } })
}
