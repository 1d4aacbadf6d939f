import { type RunningChain, startChain } from '@geoswap/devnet'
import {
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  testFeedAbi,
  testFeedBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@geoswap/protocol'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseEther,
  toHex,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { CALL_GAS, create, type Deployer, execute } from '../../../packages/devnet/src/deploy.ts'
import { createEvmClient, createEvmSender } from '../../../packages/devnet/src/evm-sender.ts'
import type { Scene } from '../scene.ts'

// Deployed by others: a chain without anything of ours, its tokens and feeds.

export const GAMMA = { chainId: 31_343, name: 'gamma', blockMs: 500 }
const FEED_DECIMALS = 8

type Gamma = RunningChain & { usdc: Address; advance(seconds: number): Promise<unknown> }

/** A new chain with USDC, of which the treasury holds some. */
export async function startGamma(scene: Scene, deployer: Hex): Promise<Gamma> {
  const { PATH = '', HOME = '' } = process.env
  const chain = await startChain({ ...GAMMA, env: { PATH, HOME } })
  const on = strangerOn(scene, { chainId: GAMMA.chainId, rpcUrl: chain.rpcUrl })
  for (const address of [on.treasury.address, privateKeyToAddress(deployer)])
    await on.client.setBalance({ address, value: parseEther('10') })
  await on.client.setCode({ address: CREATE2_PROXY, bytecode: CREATE2_PROXY_CODE })
  const usdc = await createToken(on, 'USDC', 6)
  await mint(on, usdc, { to: on.treasury.address, amount: 10_000_000_000n })
  return { ...chain, usdc, advance: (seconds) => on.client.increaseTime({ seconds }) }
}

/** Sends as the treasury, whose nonce no process uses. */
export function strangerOn(
  { network }: Scene,
  { chainId, rpcUrl }: { chainId: number; rpcUrl: string },
): Deployer {
  const client = createEvmClient(rpcUrl)
  const { privateKey } = network.keys.treasury
  return { client, treasury: createEvmSender(client, { privateKey, chainId }) }
}

export function createToken(on: Deployer, symbol: string, decimals: number): Promise<Address> {
  const args = [symbol, symbol, decimals] as const
  const bytecode = encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
  return create(on, { bytecode, salt: keccak256(toHex(`others ${symbol}`)) })
}

export async function mint(
  on: Deployer,
  token: Address,
  { to, amount }: { to: Address; amount: bigint },
): Promise<void> {
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: 'mint', args: [to, amount] })
  await execute(on, { to: token, data, gas: CALL_GAS })
}

export function createFeed(on: Deployer, asset: string, usd: bigint): Promise<Address> {
  const args = [FEED_DECIMALS, `${asset} / USD`, usd * 10n ** BigInt(FEED_DECIMALS)] as const
  const bytecode = encodeDeployData({ abi: testFeedAbi, bytecode: testFeedBytecode, args })
  return create(on, { bytecode, salt: keccak256(toHex(`feed of ${asset}`)) })
}
