import { type RunningChain, startChain } from '@geoswap/devnet'
import { testFeedAbi, testFeedBytecode, testTokenAbi, testTokenBytecode } from '@geoswap/protocol'
import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createTestClient,
  encodeDeployData,
  type Hex,
  http,
  type PublicClient,
  publicActions,
  type Transport,
  walletActions,
} from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createGathering, readCodeStart } from './gather.ts'

const ANYONE: Address = '0x00000000000000000000000000000000000000fe'
// Burns all of its gas and reverts.
const BURNER: Hex = '0xfe'
const DELEGATED: Address = '0x00000000000000000000000000000000000000dd'
const DELEGATION: Hex = `0xef0100${'ab'.repeat(20)}`

const ARB_SYS: Address = '0x0000000000000000000000000000000000000064'

let chain: RunningChain
let node: ReturnType<typeof createNode>
let token: Address
let feed: Address
let client: PublicClient
let asked: string[]

const createNode = (url: string) =>
  createTestClient({ mode: 'hardhat', transport: http(url), account: ANYONE })
    .extend(publicActions)
    .extend(walletActions)

beforeAll(async () => {
  chain = await startChain({ name: 'gather', chainId: 31_337, blockMs: 60_000 })
  node = createNode(chain.rpcUrl)
  await node.setAutomine(true)
  await node.impersonateAccount({ address: ANYONE })
  await node.setBalance({ address: ANYONE, value: 10n ** 24n })
  const deploy = async (abi: Abi, bytecode: Hex, args: unknown[]): Promise<Address> => {
    const data = encodeDeployData({ abi, bytecode, args })
    const hash = await node.sendTransaction({ chain: null, gas: 3_000_000n, data })
    return (await node.getTransactionReceipt({ hash })).contractAddress ?? expect.unreachable()
  }
  token = await deploy(testTokenAbi, testTokenBytecode, ['Dollar', 'USD', 6])
  feed = await deploy(testFeedAbi, testFeedBytecode, [8, 'ETH / USD', 250_000_000_000n])
  await node.setCode({ address: '0x00000000000000000000000000000000000000bb', bytecode: BURNER })
  await node.setCode({ address: DELEGATED, bytecode: DELEGATION })
})
afterAll(() => chain?.stop())

beforeEach(() => {
  asked = []
  const counted: Transport = (parameters) => {
    const inner = http(chain.rpcUrl, { retryCount: 0 })(parameters)
    return {
      ...inner,
      request: ((call: { method: string }) => {
        asked.push(call.method)
        return inner.request(call as never)
      }) as typeof inner.request,
    }
  }
  client = createPublicClient({ transport: createGathering(counted), cacheTime: 0 })
})

const decimals = (address: Address) =>
  client.readContract({ address, abi: testTokenAbi, functionName: 'decimals' })

test('reads and balances of one tick are one call to the node', async () => {
  const [of, coins, round] = await Promise.all([
    decimals(token),
    client.getBalance({ address: '0x0000000000000000000000000000000000000001' }),
    client.readContract({ address: feed, abi: testFeedAbi, functionName: 'latestRoundData' }),
  ])

  expect([of, coins, round[1]]).toEqual([6, 0n, 250_000_000_000n])
  expect(asked).toEqual(['eth_call'])
})

test('a read that reverts fails alone, with its reason', async () => {
  const old = { address: feed, abi: testFeedAbi, functionName: 'getRoundData', args: [99n] } as const
  const [reverted, kept] = await Promise.allSettled([client.readContract(old), decimals(token)])

  expect(kept).toMatchObject({ status: 'fulfilled', value: 6 })
  const why = reverted.status === 'rejected' && reverted.reason
  const cause = why instanceof BaseError && why.walk((each) => each instanceof ContractFunctionRevertedError)
  expect(cause).toMatchObject({ data: { errorName: 'NoData' } })
})

test('a read that burns its gas leaves enough for the others', async () => {
  const answers = await Promise.allSettled([
    decimals('0x00000000000000000000000000000000000000bb'),
    decimals('0x00000000000000000000000000000000000000bb'),
    decimals(token),
  ])

  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test('reads of different blocks are separate, and so are those beyond the limits of one call', async () => {
  await Promise.all([decimals(token), client.getBalance({ address: ANYONE, blockNumber: 0n })])
  expect(asked.length).toBe(2)

  asked.length = 0
  expect(new Set(await Promise.all(Array.from({ length: 100 }, () => decimals(token))))).toEqual(new Set([6]))
  expect(asked.length).toBe(2)
})

test('a call with a sender passes unchanged', async () => {
  const transfer = { address: token, abi: testTokenAbi, functionName: 'transfer', account: ANYONE } as const
  await client.simulateContract({ ...transfer, args: [feed, 0n] })
  expect(asked).toEqual(['eth_call'])

  const ownAccount = client.simulateContract({ ...transfer, args: [feed, 1n] })
  await expect(ownAccount).rejects.toThrow('ERC20InsufficientBalance')
})

test("the start of accounts' code is read in the same call, and a delegation in full", async () => {
  const [delegation, contract, none, coins] = await Promise.all([
    readCodeStart(client, DELEGATED),
    readCodeStart(client, token),
    readCodeStart(client, '0x0000000000000000000000000000000000000abc'),
    client.getBalance({ address: DELEGATED }),
  ])

  expect([delegation, none, coins]).toEqual([DELEGATION, undefined, 0n])
  expect(contract).toMatch(/^0x[0-9a-f]{48}$/)
  expect(asked).toEqual(['eth_call'])
})

test('the block number is that of the call, and on Arbitrum the one that its precompile tells', async () => {
  const number = await http(chain.rpcUrl)({}).request({ method: 'eth_blockNumber' })

  expect(await client.getBlockNumber()).toBe(BigInt(number as Hex))

  // Returns 7 to every call.
  await node.setCode({ address: ARB_SYS, bytecode: '0x600760005260206000f3' })
  expect(await client.getBlockNumber()).toBe(7n)
  await node.setCode({ address: ARB_SYS, bytecode: '0x' })
  expect(new Set(asked)).toEqual(new Set(['eth_call']))
})
