import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  createPublicClient,
  custom,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  type PublicClient,
  TransactionReceiptNotFoundError,
  toHex,
} from 'viem'
import { createEvmClients } from '../../chains/evm/client.ts'
import { readTip } from '../../chains/evm/fees.ts'
import { meaningOf } from '../../chains/evm/send.ts'
import { describeError, type Env, UsageError } from '../../command.ts'
import { COMMAND_PATIENCE_MS } from '../../compose/chains.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { openPayer } from '../family.ts'

/** Pays for deployments, and gives gas to the other keys. */
export const payer = { role: 'deployer', variable: 'GEOSWAP_DEPLOYER_KEY' } as const

export async function openDeployer(env: Env, network: NetworkConfig): Promise<PrivateKeyAccount> {
  return (await openPayer(env, network, payer)) as PrivateKeyAccount
}

type Transaction = { to: Address; data?: Hex; value?: bigint }
/** A key, or an address whose key signs elsewhere. */
type Sender = Pick<PrivateKeyAccount, 'address'> & Partial<Pick<PrivateKeyAccount, 'signTransaction'>>
export type Included = { gasUsed: bigint; cost: bigint; txHash: Hex }

/**
 * A chain on which a command sends transactions of one key, each after the one before is in a block. Their nonces
 * follow that of the block at which it was opened. So what is planned by later reads of `client` is never sent a second
 * time: when another run has sent, these nonces are used.
 */
export type ChainWallet = {
  client: PublicClient
  send(transaction: Transaction): Promise<Included>
  /** Sends bytes that the key signed elsewhere, for its next nonce. */
  sendRaw(raw: Hex): Promise<Included>
  nextNonce(): number
  readFees(): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }>
  /** Waits for a transaction that is already sent. Throws if it was reverted. */
  settle(txHash: Hex): Promise<Included>
}

/** Throws if the node serves another chain, or a transaction of the key is pending, before anything is sent. */
export async function openWallet(config: EvmChainConfig, account: Sender | undefined): Promise<ChainWallet> {
  const clients = createEvmClients({ urls: config.rpcUrls, patienceMs: COMMAND_PATIENCE_MS })
  const retryMs = Math.min(config.blockMs, MAX_POLL_MS)
  const fresh = createFreshNode(clients.client.request as FreshNode['request'])
  const client = createPublicClient({ transport: custom(fresh), cacheTime: 0 })
  const actual = await client.getChainId().catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}`, { cause: error })
  })
  if (actual !== config.chainId) {
    throw new UsageError(`${config.name}: the node serves chain ${actual}, not ${config.chainId}`)
  }

  // Of several backends, one of a few answers knows the newest block.
  for (let asked = 0; asked < HEAD_READS; asked += 1) fresh.reach(await client.getBlockNumber())

  const refresh = async () => fresh.reach(await client.getBlockNumber())
  let nonce = account ? await readSettledNonce({ client, refresh }, config, account.address) : 0

  async function settle(txHash: Hex, patienceMs = INCLUSION_MS): Promise<Included> {
    const receipt = await findInTime({ retryMs, patienceMs }, () => findReceipt(client, txHash))
    if (!receipt) throw new Error(`${config.name}: transaction ${txHash} is still in no block`)
    const { status, gasUsed, effectiveGasPrice, blockNumber } = receipt
    fresh.reach(blockNumber)
    if (status !== 'success') throw new Error(`${config.name}: transaction ${txHash} was reverted`)
    return { gasUsed, cost: gasUsed * effectiveGasPrice, txHash }
  }

  async function send(transaction: Transaction): Promise<Included> {
    if (!account?.signTransaction) throw new Error('A key is required to send')
    const [gas, fees] = await Promise.all([
      client.estimateGas({ account: account.address, ...transaction }),
      readFees({ client, nodes: clients.nodes }, config),
    ])
    const { chainId } = config
    return sendRaw(await account.signTransaction({ ...transaction, ...fees, gas, nonce, chainId }))
  }

  async function sendRaw(raw: Hex): Promise<Included> {
    const isUsed = await broadcast(client, raw)
    const included = await settle(keccak256(raw), isUsed ? config.blockMs * USED_BLOCKS : INCLUSION_MS).catch(
      (error: unknown) => {
        if (!isUsed) throw error
        const used = `nonce ${nonce} of ${account?.address} is used, by this transaction or another`
        throw new Error(`${used}: the node lags behind the chain`, { cause: error })
      },
    )
    nonce += 1
    return included
  }

  return {
    client,
    settle,
    send,
    sendRaw,
    nextNonce: () => nonce,
    readFees: () => readFees({ client, nodes: clients.nodes }, config),
  }
}

/** The fees of the service's own transactions, whose tip no node can set at will. */
async function readFees(
  { client, nodes }: { client: PublicClient; nodes: readonly PublicClient[] },
  { tipWei, maxTipWei, l1Gas }: EvmChainConfig,
) {
  const { baseFeePerGas } = await client.getBlock()
  const baseFee = baseFeePerGas ?? 0n
  const toWei = (text: string | undefined) => (text === undefined ? undefined : BigInt(text))
  const bounds = { tipWei: toWei(tipWei), maxTipWei: toWei(maxTipWei), l1Gas }
  const tip = await readTip(nodes, bounds, baseFee)
  return { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip }
}

/** True if the node has these bytes already, or the nonce is used. */
async function broadcast(client: PublicClient, serializedTransaction: Hex): Promise<boolean> {
  try {
    await client.sendRawTransaction({ serializedTransaction })
    return false
  } catch (error) {
    if (meaningOf(error) !== 'known') throw error
    return true
  }
}

const INCLUSION_MS = 180_000
const MAX_POLL_MS = 1_000
const USED_BLOCKS = 15
const HEAD_READS = 4
const PENDING_READS = 10
const PENDING_MS = 500

/** Undefined while the backend that answers does not have the transaction in a block. */
function findReceipt(client: PublicClient, hash: Hex) {
  return client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  })
}

/**
 * The next nonce at the block that was reached. Refuses while a transaction of the key is pending: a second one could
 * pay twice. Reads several times, since a backend that lags does not have the block of the last one yet.
 */
async function readSettledNonce(
  { client, refresh }: { client: PublicClient; refresh(): Promise<void> },
  { name }: Pick<EvmChainConfig, 'name'>,
  address: Address,
): Promise<number> {
  let next = 0
  for (let read = 0; read < PENDING_READS; read += 1) {
    next = await client.getTransactionCount({ address })
    if ((await client.getTransactionCount({ address, blockTag: 'pending' })) <= next) return next
    await delay(PENDING_MS)
    await refresh()
  }
  throw new UsageError(`A transaction of ${address} on ${name} is pending (nonce ${next}). Wait for it.`)
}

type Call = { method: string; params?: unknown }
type Request = (call: Call) => Promise<unknown>

/** A node whose backends lag each other, read at a block that a command has reached. */
type FreshNode = {
  request: Request
  /** From now on, state is read at this block or a later one. */
  reach(block: bigint): void
}

// The place of the block in the parameters of calls that read state.
const BLOCK_AT: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
}
/** Reads state at the block that was reached last. */
export function createFreshNode(ask: Request): FreshNode {
  let reached: bigint | undefined

  return {
    request: (call) => ask(reached === undefined ? call : atBlock(call, reached)),
    reach(block) {
      if (reached === undefined || block > reached) reached = block
    },
  }
}

/** The call with this block in place of the newest; unchanged if it reads no state, or names a block. */
function atBlock(call: Call, block: bigint): Call {
  const at = BLOCK_AT[call.method]
  const params = Array.isArray(call.params) ? [...call.params] : []
  if (at === undefined || (params[at] !== undefined && params[at] !== 'latest')) return call
  params[at] = toHex(block)
  return { ...call, params }
}

/** Repeats until there is an answer; undefined if there is none in this time. */
export async function findInTime<T>(
  { retryMs, patienceMs }: { retryMs: number; patienceMs: number },
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = performance.now() + patienceMs
  for (;;) {
    const found = await find()
    if (found !== undefined || performance.now() > end) return found
    await delay(retryMs)
  }
}
