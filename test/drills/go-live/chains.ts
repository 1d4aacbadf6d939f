import { type RunningChain, startChain } from '@geoswap/devnet'
import {
  CREATE2_PROXY,
  CREATE2_PROXY_CODE,
  testFeedAbi,
  testFeedBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@geoswap/protocol'
import { type Abi, type Address, encodeDeployData, encodeFunctionData, type Hex, parseEther } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { createEvmClient, createEvmSender, waitForReceipt } from '../../../packages/devnet/src/evm-sender.ts'
import { type Preset, readPreset } from '../../../packages/service/src/operate/presets.ts'

const NAMES = ['base', 'arbitrum'] as const
const USD_E8: Readonly<Record<string, bigint>> = { ETH: 2_500n * 10n ** 8n, USDC: 10n ** 8n }
const FEED_DECIMALS = 8
// The storage of TestToken and TestFeed.
const [NAME_SLOT, SYMBOL_SLOT, DESCRIPTION_SLOT] = [3, 4, 0]

export type BareChain = RunningChain & {
  name: string
  /** Gives coins, as an exchange or an earlier owner would. */
  giveCoins(to: Address, whole: string): Promise<void>
  giveTokens(to: Address, symbol: string, amount: bigint): Promise<void>
  balanceOf(owner: Address, symbol: string): Promise<bigint>
}

/**
 * Starts chains with the ids, fees and finality of Base and Arbitrum, and with what others deployed there: the CREATE2
 * deployer, and tokens and feeds at the addresses of the presets. Nothing of ours is on them.
 */
export async function startBareChains(env: Record<string, string>): Promise<BareChain[]> {
  const chains = NAMES.map(async (name) => {
    const preset = readPreset(name)
    if (!preset) throw new Error(`No preset ${name}`)
    const { chainId, blockMs } = preset
    return prepare(preset, await startChain({ name, chainId, blockMs, shape: name, env }))
  })
  return Promise.all(chains)
}

async function prepare(preset: Preset, chain: RunningChain): Promise<BareChain> {
  const client = createEvmClient(chain.nodeUrl)
  const stranger = createEvmSender(client, { privateKey: generatePrivateKey(), chainId: preset.chainId })
  await client.setBalance({ address: stranger.address, value: parseEther('100') })
  const call = async (to: Address, abi: Abi, functionName: string, args: unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args })
    const hash = await stranger.send({ to, data, gas: 500_000n })
    await waitForReceipt(client, { hash, timeoutMs: 30_000 })
  }

  /** Puts a contract at an address that is already known, with short texts in these storage slots. */
  async function place(address: string, creation: Hex, texts: Record<number, string>): Promise<void> {
    const { data: bytecode = '0x' } = await client.call({ data: creation })
    await client.setCode({ address: address as Address, bytecode })
    for (const [index, text] of Object.entries(texts))
      await client.setStorageAt({ address: address as Address, index: Number(index), value: toSlot(text) })
  }

  await client.setCode({ address: CREATE2_PROXY, bytecode: CREATE2_PROXY_CODE })
  await client.setAutomine(true)
  for (const { symbol, decimals, address } of preset.tokens) {
    const args = [symbol, symbol, decimals] as const
    const creation = encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
    await place(address, creation, { [NAME_SLOT]: symbol, [SYMBOL_SLOT]: symbol })
  }
  for (const feed of preset.feeds) {
    if (feed.kind !== 'chainlink') continue
    const [text, price] = [`${feed.asset} / USD`, USD_E8[feed.asset] ?? 0n]
    const args = [FEED_DECIMALS, text, price] as const
    const creation = encodeDeployData({ abi: testFeedAbi, bytecode: testFeedBytecode, args })
    await place(feed.address, creation, { [DESCRIPTION_SLOT]: text })
    await call(feed.address as Address, testFeedAbi, 'updateAnswer', [price])
  }
  await client.setAutomine(false)
  const tokenOf = (symbol: string) => {
    const token = preset.tokens.find((each) => each.symbol === symbol)
    if (!token) throw new Error(`${preset.name} has no ${symbol}`)
    return token.address as Address
  }
  return {
    ...chain,
    name: preset.name,
    giveCoins: (address, whole) => client.setBalance({ address, value: parseEther(whole) }),
    giveTokens: (to, symbol, amount) => call(tokenOf(symbol), testTokenAbi, 'mint', [to, amount]),
    balanceOf: (owner, symbol) =>
      client.readContract({
        ...{ address: tokenOf(symbol), abi: testTokenAbi },
        ...{ functionName: 'balanceOf', args: [owner] },
      }),
  }
}

/** A text of up to 31 bytes, as Solidity stores it. */
function toSlot(text: string): Hex {
  const bytes = Buffer.alloc(32)
  bytes.write(text)
  bytes[31] = 2 * Buffer.byteLength(text)
  return `0x${bytes.toString('hex')}`
}
