import { type RunningChain, startChain } from '@geoswap/devnet'
import {
  authorizationDigest,
  authorizationOf,
  depositAddressOf,
  permitDigest,
  permitOf,
  signedTokenAbi,
  testDollarAbi,
  testDollarBytecode,
  testTokenAbi,
  testTokenBytecode,
} from '@geoswap/protocol'
import {
  type Address,
  createPublicClient,
  createTestClient,
  custom,
  decodeFunctionData,
  domainSeparator,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  parseSignature,
  publicActions,
  RpcRequestError,
  toHex,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stub } from '../../test/support/stub.ts'
import { createEvmClient } from '../chains/evm/client.ts'
import { readTokenSigning } from '../chains/evm/tokens.ts'
import type { Swap } from '../swap/swap.ts'
import { takesAuthorization } from './authorization.ts'
import { takesPermit } from './permit.ts'
import { evmWays } from './registry.ts'

const chainId = 31_337
const ANYONE: Address = '0x00000000000000000000000000000000000000fe'
const STRANGE: Address = '0x00000000000000000000000000000000000000fb'
const PHANTOM: Address = '0x00000000000000000000000000000000000000fa'
// Answers every call with zeros, like a token that has a fallback function.
const ZEROS: Hex = '0x6102005ff3'
const escrow: Address = `0x${'1'.repeat(40)}`
const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)

let chain: RunningChain
let client: ReturnType<typeof connect>
let reader: PublicClient
let [dollar, plain]: [Address, Address] = [ANYONE, ANYONE]

const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)

beforeAll(async () => {
  chain = await startChain({ name: 'signing', chainId, blockMs: 60_000 })
  client = connect(chain.rpcUrl)
  reader = createEvmClient({ urls: [chain.rpcUrl] })
  await client.setAutomine(true)
  for (const address of [ANYONE, owner.address]) {
    await client.impersonateAccount({ address })
    await client.setBalance({ address, value: 10n ** 24n })
  }
  await client.setCode({ address: PHANTOM, bytecode: ZEROS })
  const args = ['Dollar', 'USDC', 6] as const
  dollar = await send({
    data: encodeDeployData({ abi: testDollarAbi, bytecode: testDollarBytecode, args }),
  })
  plain = await send({ data: encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode, args }) })
  const minted = [owner.address, 100n] as const
  await send({
    to: dollar,
    data: encodeFunctionData({ abi: testDollarAbi, functionName: 'mint', args: minted }),
  })
})
afterAll(() => chain?.stop())

async function send(call: { to?: Address; data: Hex }, account = ANYONE): Promise<Address> {
  const hash = await client.sendTransaction({ chain: null, gas: 5_000_000n, account, ...call })
  const { status, contractAddress } = await client.getTransactionReceipt({ hash })
  expect(status).toBe('success')
  return contractAddress ?? ANYONE
}

/** The chain by a node that answers these functions otherwise. */
function nodeWith(answers: Record<string, Hex | Error>): PublicClient {
  const abi = [...signedTokenAbi, ...erc20Abi]
  const request = async (asked: { method: string; params: [{ data: Hex }] }) => {
    const [{ data }] = asked.params
    const name = asked.method === 'eth_call' ? decodeFunctionData({ abi, data }).functionName : asked.method
    const answer = answers[name]
    if (answer instanceof Error) throw answer
    return answer ?? reader.request(asked as never)
  }
  return createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 })
}

const failing = (message: string, code = -32_005) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code, message } })
const refused = failing('execution reverted', 3)

const signingOf = (token: Address, answers: Record<string, Hex | Error> = {}) =>
  readTokenSigning(nodeWith(answers), evmWays, { chainId, escrow, token })
const known = { name: 'Dollar', version: '2' }

test('a dollar is moved by authorizations and permits, whatever key signs', async () => {
  const found = await Promise.all(Array.from({ length: 12 }, () => signingOf(dollar)))

  expect(found).toEqual(found.map(() => ({ ...known, methods: ['authorization', 'permit', 'payment'] })))
})

test.each<[string, string[], string[]]>([
  ['that takes no permit', ['permit'], ['authorization', 'payment']],
  ['that takes no authorization', ['receiveWithAuthorization'], ['permit', 'payment']],
  ['that takes no payment', ['transferWithAuthorization'], ['authorization', 'permit']],
  ['that describes itself only by its domain', ['name', 'version'], ['authorization', 'permit', 'payment']],
  ['that does not describe its domain', ['eip712Domain'], ['authorization', 'permit', 'payment']],
])('a dollar %s is moved by what it takes', async (_, missing, methods) => {
  const answers = Object.fromEntries(missing.map((name) => [name, refused]))

  expect(await signingOf(dollar, answers)).toEqual({ ...known, methods })
})

test.each<[string, string[]]>([
  ['takes no signature', ['permit', 'receiveWithAuthorization', 'transferWithAuthorization']],
  ['has no separator', ['DOMAIN_SEPARATOR']],
  ['has another version than it says', ['eip712Domain', 'version']],
])('a dollar that %s is moved by none', async (_, missing) => {
  const answers = Object.fromEntries(missing.map((name) => [name, refused]))

  expect(await signingOf(dollar, answers)).toBeUndefined()
})

test.each<[string, Hex]>([
  ['a short text', '0x5f5f5260205ff3'],
  ['a word that is no length', '0x5f195f5260205ff3'],
])('a contract that answers every question with %s is no signed token', async (_, bytecode) => {
  await client.setCode({ address: STRANGE, bytecode })

  expect(await signingOf(STRANGE)).toBeUndefined()
})

test('neither a plain token nor one that accepts every call is moved by signatures', async () => {
  expect(await signingOf(plain)).toBeUndefined()
  expect(await signingOf(PHANTOM)).toBeUndefined()
})

const separatorOf = (named: { name?: string; version: string }) =>
  domainSeparator({ domain: { ...named, chainId, verifyingContract: dollar } })
const acceptsAll = { permit: '0x', receiveWithAuthorization: '0x', transferWithAuthorization: '0x' } as const
const undescribed = { ...acceptsAll, eip712Domain: refused, version: refused }

test('a token that names no version has the first', async () => {
  const DOMAIN_SEPARATOR = separatorOf({ name: 'Dollar', version: '1' })

  expect(await signingOf(dollar, { ...undescribed, DOMAIN_SEPARATOR })).toMatchObject({
    name: 'Dollar',
    version: '1',
  })
})

test('a token without a name is moved by no signature, since wallets show the name', async () => {
  const DOMAIN_SEPARATOR = separatorOf({ version: '1' })

  expect(await signingOf(dollar, { ...undescribed, name: refused, DOMAIN_SEPARATOR })).toBeUndefined()
})

test.each(['name', 'permit', 'receiveWithAuthorization', 'transferWithAuthorization'])(
  'a node that fails in the call of %s is an error, and no answer of the token',
  async (name) => {
    await expect(signingOf(dollar, { [name]: failing('too many requests') })).rejects.toThrow(
      'too many requests',
    )
  },
)

type Method = 'authorization' | 'permit'

async function swapOf(text: string, method: Method, { signer = owner } = {}) {
  const hash = keccak256(toHex(text))
  const opDeadline = Number((await reader.getBlock()).timestamp) + 3_600
  const op = { hash, wallet: owner.address, inputToken: dollar, inputAmount: 7n, opDeadline }
  const paid = { wallet: owner.address, inputAmount: 7n, opDeadline: BigInt(opDeadline) }
  const separator = separatorOf(known)
  const digest =
    method === 'permit'
      ? permitDigest(separator, permitOf({ escrow }, hash, { ...paid, nonce: 0n }))
      : authorizationDigest(separator, authorizationOf({ escrow }, hash, paid))
  const signature = await signer.sign({ hash: digest })
  return stub<Swap>({ op, signature })
}

const takes = { authorization: takesAuthorization, permit: takesPermit }
const isTaken = async (method: Method, swap: Swap, answers: Record<string, Hex | Error> = {}) =>
  takes[method](nodeWith(answers), escrow, swap, await reader.getBlockNumber())

test.each(['authorization', 'permit'] as const)(
  'the token takes each %s of its wallet, and none of somebody else',
  async (method) => {
    const signed = await Promise.all(Array.from({ length: 40 }, (_, index) => swapOf(`${index}`, method)))
    const swaps = [0, 1].map(
      (parity) =>
        signed.find(({ signature }) => parseSignature(signature as Hex).yParity === parity) ??
        expect.unreachable(),
    )

    expect(await Promise.all(swaps.map((swap) => isTaken(method, swap)))).toEqual([true, true])
    expect(await isTaken(method, await swapOf('a', method, { signer: stranger }))).toBe(false)
  },
)

test('a permit that was used counts by its allowance, which has to be as large as the input', async () => {
  const swap = await swapOf('used', 'permit', { signer: stranger })
  const spender = depositAddressOf(escrow, swap.op.hash as Hex)
  const isTakenWith = async (allowance: bigint) => {
    const args = [spender, allowance] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    await send({ to: dollar, data }, owner.address)
    return isTaken('permit', swap)
  }

  expect([await isTakenWith(6n), await isTakenWith(7n)]).toEqual([false, true])
})

test.each<[Method, string]>([
  ['authorization', 'receiveWithAuthorization'],
  ['permit', 'permit'],
])('a node that fails does not refuse an %s', async (method, name) => {
  const taken = isTaken(method, await swapOf('a', method), { [name]: failing('too many requests') })

  await expect(taken).rejects.toThrow('too many requests')
})

test.each<[string, Hex]>([
  ['answers with megabytes', '0x6244aa205ff3'],
  ['reverts with megabytes', '0x6244aa205ffd'],
  ['runs an invalid instruction', '0xfe'],
  ['burns all of its gas', '0x5b5f56'],
])('the token takes no authorization of a wallet that %s, and the node is not at fault', async (_, code) => {
  const swap = await swapOf('of a contract', 'authorization', { signer: stranger })
  await client.setCode({ address: owner.address, bytecode: code })

  const isIt = await isTaken('authorization', swap)
  await client.setCode({ address: owner.address, bytecode: '0x' })

  expect(isIt).toBe(false)
})
