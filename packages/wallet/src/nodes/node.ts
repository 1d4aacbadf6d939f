import { address, createSolanaRpc } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { type Address, createPublicClient, erc20Abi, http, type PublicClient, zeroAddress } from 'viem'
import { UserError } from '../errors.ts'
import type { Family } from '../keys.ts'

/** Values read from the chain itself, without trusting the service. */
export type Reads = {
  /** The spendable balance: on Solana that of the wallet's associated token account. */
  balanceOf(owner: string, token: string): Promise<bigint>
  decimalsOf(token: string): Promise<number>
  /** The symbol that the token's contract returns; undefined on a chain whose tokens have none. */
  symbolOf(token: string): Promise<string | undefined>
}

const COIN_DECIMALS = 18
const TIMEOUT_MS = 10_000

export function connectEvm(rpcUrl: string): PublicClient {
  const transport = http(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 1 })
  // Blocks take a second or less, so a cached balance may be outdated.
  return createPublicClient({ transport, cacheTime: 0, pollingInterval: 500 })
}

function createEvmReads(chain: { chainId: number; name: string }, rpcUrl: string): Reads {
  const client = connectEvm(rpcUrl)
  let isRight: Promise<void> | undefined
  const rightChain = () => (isRight ??= assertChain(client, chain))
  return {
    async balanceOf(owner, token) {
      await rightChain()
      const args = [owner as Address] as const
      if (token === zeroAddress) return client.getBalance({ address: args[0] })
      return client.readContract({
        address: token as Address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args,
      })
    },
    async decimalsOf(token) {
      await rightChain()
      if (token === zeroAddress) return COIN_DECIMALS
      return client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'decimals' })
    },
    async symbolOf(token) {
      if (token === zeroAddress) return undefined
      await rightChain()
      return client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'symbol' })
    },
  }
}

export async function assertChain(
  client: PublicClient,
  { chainId, name }: { chainId: number; name: string },
): Promise<void> {
  const actual = await client.getChainId()
  if (actual === chainId) return
  const advice = `Set a node of ${name} with geoswap config set rpc.${chainId} URL.`
  throw new UserError('NODE_FAILED', `The node of ${name} (${chainId}) belongs to chain ${actual}.`, {
    advice,
  })
}

const NATIVE = '11111111111111111111111111111111'
const SOL_DECIMALS = 9
const AS_JSON = { commitment: 'confirmed', encoding: 'jsonParsed' } as const

function createSolanaReads(rpcUrl: string): Reads {
  const rpc = createSolanaRpc(rpcUrl)

  /** The mint's program and its decimals. */
  async function readMint(mint: string) {
    const { value } = await rpc.getAccountInfo(address(mint), AS_JSON).send()
    const decimals = value && Number(readInfo(value.data)?.['decimals'])
    if (!value || !Number.isInteger(decimals)) throw new Error(`${mint} is not a mint`)
    return { program: value.owner, decimals: decimals as number }
  }

  return {
    async balanceOf(ownerText, token) {
      const owner = address(ownerText)
      if (token === NATIVE) return (await rpc.getBalance(owner, { commitment: 'confirmed' }).send()).value
      const { program: tokenProgram } = await readMint(token)
      const [account] = await findAssociatedTokenPda({ owner, mint: address(token), tokenProgram })
      const { value } = await rpc.getAccountInfo(account, AS_JSON).send()
      return value ? BigInt(readTokenAmount(value.data)) : 0n
    },
    async decimalsOf(token) {
      return token === NATIVE ? SOL_DECIMALS : (await readMint(token)).decimals
    },
    symbolOf: async () => undefined,
  }
}

function readTokenAmount(data: unknown): string {
  const { amount } = (readInfo(data)?.['tokenAmount'] ?? {}) as { amount?: string }
  if (amount === undefined) throw new Error("The wallet's token account holds something else")
  return amount
}

function readInfo(data: unknown): Record<string, unknown> | undefined {
  const { parsed } = data as { parsed?: { info?: Record<string, unknown> } }
  return parsed?.info
}

export type Chain = { chainId: number; name: string; family: Family }

export function createNode(chain: Chain, rpcUrl: string): Reads {
  const reads = chain.family === 'evm' ? createEvmReads(chain, rpcUrl) : createSolanaReads(rpcUrl)
  return {
    balanceOf: (owner, token) => orNodeFailed(chain, reads.balanceOf(owner, token)),
    decimalsOf: (token) => orNodeFailed(chain, reads.decimalsOf(token)),
    symbolOf: (token) => orNodeFailed(chain, reads.symbolOf(token)),
  }
}

/** Turns failures of a node into an error that the user can act on. */
export async function orNodeFailed<T>(
  { chainId, name }: Omit<Chain, 'family'>,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    const advice = `Set another one with geoswap config set rpc.${chainId} URL.`
    throw new UserError('NODE_FAILED', `The node of ${name} did not answer: ${why}`, { advice, cause })
  }
}
