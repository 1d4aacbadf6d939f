import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import {
  type Abi,
  type Address,
  decodeErrorResult,
  encodeDeployData,
  type Hex,
  hexToBigInt,
  hexToNumber,
  isHex,
  type Log,
  numberToHex,
  type PrivateKeyAccount,
  parseGwei,
  type SignedAuthorization,
} from 'viem'
import network from '../network.json' with { type: 'json' }

type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> }

/**
 * One in-process chain. `accounts` are unlocked: the node signs for them. `errors` has the custom errors of
 * the contracts.
 */
export type Chain = { id: number; provider: Provider; accounts: readonly Address[]; errors: Abi }
export type Call = { from: Address; to?: Address; data?: Hex; value?: bigint; gas?: bigint }
export type Receipt = { gasUsed: bigint; logs: readonly Log[]; contractAddress: Address; hash: Hex }

const require = createRequire(import.meta.url)
const configPath = fileURLToPath(new URL('../hardhat.config.cjs', import.meta.url))
const defaultGas = 8_000_000n

export type ChainOptions = { id?: number; initialDate?: string }

/** Starts a chain in this process, at the current time unless an initial date is given. */
export async function createChain(options: ChainOptions & { errors?: Abi } = {}): Promise<Chain> {
  const { resolveConfig } = require('hardhat/internal/core/config/config-resolution')
  const { createProvider } = require('hardhat/internal/core/providers/construction')
  const { id = network.chainId, initialDate } = options
  const hardhat = { ...network, chainId: id, ...(initialDate ? { initialDate } : {}) }
  const config = resolveConfig(configPath, { networks: { hardhat } })
  const provider: Provider = await createProvider(config, 'hardhat')
  const accounts = (await provider.request({ method: 'eth_accounts' })) as Address[]
  return { id, provider, accounts, errors: options.errors ?? [] }
}

/** Calls the node. The caller states the result type. */
export async function ask<T>(chain: Chain, method: string, params: readonly unknown[] = []): Promise<T> {
  return (await chain.provider.request({ method, params })) as T
}

/**
 * Sends from an unlocked account and returns the receipt. On a revert, throws the name of the contract's
 * error.
 */
export async function send(chain: Chain, call: Call): Promise<Receipt> {
  const hash = await naming(chain, () => ask<Hex>(chain, 'eth_sendTransaction', [toRpc(call)]))
  return readReceipt(chain, hash)
}

/** Sends calls from unlocked accounts in one block. */
export async function sendTogether(chain: Chain, calls: readonly Call[]): Promise<void> {
  await ask(chain, 'evm_setAutomine', [false])
  for (const call of calls) await ask(chain, 'eth_sendTransaction', [toRpc(call)])
  await mine(chain)
  await ask(chain, 'evm_setAutomine', [true])
}

export async function mine(chain: Chain): Promise<void> {
  await ask(chain, 'evm_mine')
}

export type RawCall = { to: Address; data?: Hex; value?: bigint; authorizations?: SignedAuthorization[] }

/** Signs and sends with a local key, optionally with EIP-7702 authorizations. */
export async function sendSigned(chain: Chain, from: PrivateKeyAccount, call: RawCall): Promise<Receipt> {
  const { to, data = '0x', value = 0n, authorizations } = call
  const fees = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: 0n, gas: 2_000_000n }
  const nonce = await readNonce(chain, from.address)
  const plain = { chainId: chain.id, nonce, to, data, value, ...fees }
  const raw = authorizations
    ? await from.signTransaction({ ...plain, type: 'eip7702', authorizationList: authorizations })
    : await from.signTransaction({ ...plain, type: 'eip1559' })
  return readReceipt(chain, await naming(chain, () => ask<Hex>(chain, 'eth_sendRawTransaction', [raw])))
}

/** Calls without changing state; throws like `send`. */
export function read(chain: Chain, call: Omit<Call, 'from'> & { from?: Address }): Promise<Hex> {
  const from = call.from ?? getAccount(chain, 0)
  return naming(chain, () => ask<Hex>(chain, 'eth_call', [toRpc({ ...call, from }), 'latest']))
}

/** Creates a contract and returns its address. */
export async function deploy(
  chain: Chain,
  contract: { abi: Abi; bytecode: Hex },
  args: readonly unknown[] = [],
) {
  const data = encodeDeployData({ ...contract, args })
  return (await send(chain, { from: getAccount(chain, 0), data, gas: 12_000_000n })).contractAddress
}

export function getAccount(chain: Chain, position: number): Address {
  const account = chain.accounts[position]
  if (!account) throw new Error(`the chain has no account ${position}`)
  return account
}

export async function readNonce(chain: Chain, address: Address): Promise<number> {
  return hexToNumber(await ask<Hex>(chain, 'eth_getTransactionCount', [address, 'latest']))
}

export async function readCoins(chain: Chain, address: Address): Promise<bigint> {
  return hexToBigInt(await ask<Hex>(chain, 'eth_getBalance', [address, 'latest']))
}

/** The time of the last block, in seconds. */
export async function readTime(chain: Chain): Promise<bigint> {
  const block = await ask<{ timestamp: Hex }>(chain, 'eth_getBlockByNumber', ['latest', false])
  return hexToBigInt(block.timestamp)
}

/** Sets the time of the next block, and so of the next transaction. */
export async function setNextTime(chain: Chain, seconds: bigint): Promise<void> {
  await ask(chain, 'evm_setNextBlockTimestamp', [numberToHex(seconds)])
}

function toRpc({ from, to, data, value = 0n, gas = defaultGas }: Call) {
  return { from, to, data, value: numberToHex(value), gas: numberToHex(gas), gasPrice: '0x0' }
}

async function readReceipt(chain: Chain, hash: Hex): Promise<Receipt> {
  type RpcReceipt = { gasUsed: Hex; logs: Log[]; contractAddress: Address }
  const receipt = await ask<RpcReceipt>(chain, 'eth_getTransactionReceipt', [hash])
  const { logs, contractAddress } = receipt
  return { gasUsed: hexToBigInt(receipt.gasUsed), logs, contractAddress, hash }
}

async function naming<T>(chain: Chain, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw new Error(nameRevert(chain, error), { cause: error })
  }
}

function nameRevert(chain: Chain, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const data = findData(error)
  if (!data || data === '0x') return message
  try {
    return decodeErrorResult({ abi: chain.errors, data }).errorName ?? message
  } catch {
    return `${message} ${data}`
  }
}

/** Nodes return revert data at `data` or `data.data`. */
function findData(error: unknown): Hex | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined
  return isHex(error.data) ? error.data : findData(error.data)
}
