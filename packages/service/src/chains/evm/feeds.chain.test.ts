import { type RunningChain, startChain } from '@geoswap/devnet'
import { testFeedAbi, testFeedBytecode } from '@geoswap/protocol'
import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createPriceBook, type PriceBook } from '../../market/prices/book.ts'
import { createChainlinkSource } from '../../market/prices/source.ts'
import { createEvmClient } from './client.ts'
import { createFeedReader } from './view.ts'

const ANYONE: Address = '0x00000000000000000000000000000000000000fe'
const REVERTS: Hex = '0x5f5ffd'
// Answers latestRoundData() with 250,000,000,000 and the current time, and reverts on decimals().
const NO_DECIMALS: Hex = '0x5f3560e01c63feaf968c146011575f5ffd5b643a352944006020524260605260a05ff3'
const ETH = 250_000_000_000n

let chain: RunningChain
let client: ReturnType<typeof connect>
let feeds: [Address, Address, Address]
let book: PriceBook

const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0, account: ANYONE })
    .extend(publicActions)
    .extend(walletActions)

beforeAll(async () => {
  chain = await startChain({ name: 'feeds', chainId: 31_337, blockMs: 60_000 })
  client = connect(chain.rpcUrl)
  await client.setAutomine(true)
  await client.impersonateAccount({ address: ANYONE })
  await client.setBalance({ address: ANYONE, value: 10n ** 24n })
})
afterAll(() => chain?.stop())

beforeEach(async () => {
  feeds = [await deployFeed(8, ETH), await deployFeed(18, ETH * 10n ** 10n), await deployFeed(8, ETH)]
  const reader = createEvmClient({ urls: [chain.rpcUrl] })
  const described = feeds.map((address) => ({ address, description: 'ETH / USD' }))
  const readFeeds = createFeedReader(reader, described)
  const readRounds = async () => {
    const { number, timestamp: seconds } = await reader.getBlock()
    return { seconds, rounds: new Map(Object.entries(await readFeeds(number))) }
  }
  const configured = feeds.map((address) => ({ asset: 'ETH', address, maxAgeSeconds: 60 }))
  const source = createChainlinkSource({ chainId: 31_337, feeds: configured, readRounds })
  book = createPriceBook({
    sources: [source],
    rules: new Map([['ETH', { maxDeviationBps: 200, minSources: 1 }]]),
    isLive: () => true,
    now: Date.now,
    onFault: (error) => expect.unreachable(String(error)),
  })
})

async function send(call: { to?: Address; data: Hex }): Promise<Address | null | undefined> {
  const hash = await client.sendTransaction({ chain: null, gas: 3_000_000n, ...call })
  const { status, contractAddress } = await client.getTransactionReceipt({ hash })
  expect(status).toBe('success')
  return contractAddress
}

async function deployFeed(decimals: number, answer: bigint): Promise<Address> {
  const args = [decimals, 'ETH / USD', answer] as const
  const address = await send({
    data: encodeDeployData({ abi: testFeedAbi, bytecode: testFeedBytecode, args }),
  })
  return address ?? expect.unreachable('No feed was deployed')
}

const update = (feed: Address, answer: bigint) =>
  send({
    to: feed,
    data: encodeFunctionData({ abi: testFeedAbi, functionName: 'updateAnswer', args: [answer] }),
  })

/** The state of every feed, and the reference price, or why there is none. */
async function read() {
  for (const source of book.sources) await book.refresh(source)
  const states = book.feedsOf('ETH').map(({ price, problem }) => problem ?? price)
  const found = book.referenceOf('ETH')
  return { states, reference: found.unavailable ?? found.price }
}

const E18 = ETH * 10n ** 10n

test('feeds with other decimals return the same price', async () => {
  expect(await read()).toEqual({ states: [E18, E18, E18], reference: E18 })
})

test.each([0n, -1n, -(2n ** 255n)])('an answer of %s does not affect another feed', async (answer) => {
  await update(feeds[0], answer)

  expect(await read()).toEqual({ states: ['notPositive', E18, E18], reference: E18 })
})

test.each([REVERTS, '0x'] as const)(
  'a feed whose code has become %s does not affect another',
  async (bytecode) => {
    await read()
    await client.setCode({ address: feeds[0], bytecode })

    expect(await read()).toEqual({ states: ['noAnswer', E18, E18], reference: E18 })
  },
)

test('a feed whose decimals cannot be read is left out until they can', async () => {
  const round = { address: feeds[0], abi: testFeedAbi, functionName: 'latestRoundData' } as const
  const code = await client.getCode({ address: feeds[0] })
  await client.setCode({ address: feeds[0], bytecode: NO_DECIMALS })
  expect((await client.readContract(round))[1]).toBe(ETH)
  expect(await read()).toEqual({ states: ['noAnswer', E18, E18], reference: E18 })

  await client.setCode({ address: feeds[0], bytecode: code ?? '0x' })

  expect(await read()).toEqual({ states: [E18, E18, E18], reference: E18 })
})

test('a feed of another description, or of unusual decimals, gives no round', async () => {
  const reader = createEvmClient({ urls: [chain.rpcUrl] })
  const unusual = await deployFeed(6, ETH)
  const read = createFeedReader(reader, [
    { address: feeds[0], description: 'EUR / USD' },
    { address: feeds[1], description: 'ETH / USD' },
    { address: unusual, description: 'ETH / USD' },
  ])

  expect(Object.keys(await read(await reader.getBlockNumber()))).toEqual([feeds[1]])
})

test("the age of a round is judged by the chain's time", async () => {
  await client.increaseTime({ seconds: 61 })
  await update(feeds[2], ETH)
  expect(await read()).toEqual({ states: ['stale', 'stale', E18], reference: E18 })

  await client.increaseTime({ seconds: 61 })
  await client.mine({ blocks: 1 })
  expect(await read()).toEqual({
    states: ['stale', 'stale', 'stale'],
    reference: 'tooFew',
  })
})

test('one outlier of three feeds is outvoted; two that disagree give no price until they agree again', async () => {
  await update(feeds[0], 2n * ETH)
  expect((await read()).reference).toBe(E18)

  await update(feeds[2], 0n)
  expect((await read()).reference).toBe('disagree')

  await update(feeds[0], ETH)
  expect((await read()).reference).toBe(E18)
})
