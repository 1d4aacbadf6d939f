import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import {
  type Address,
  concat,
  createPublicClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  type Hex,
  RpcRequestError,
  zeroAddress,
  zeroHash,
} from 'viem'
import { expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import type { Block } from '../chain.ts'
import type { EvmClients } from './client.ts'
import {
  readBalance,
  readDelegation,
  readHoldings,
  readLocks,
  readUndelivered,
  readWallet,
  readWalletState,
} from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

const settings = stub<EvmChainSettings>({ account: zeroAddress, olderAccounts: [] })
const input = { wallet: zeroAddress, token: '0x00000000000000000000000000000000000000a7' }

test('a balance and its block are of one request, also while another wallet is read', async () => {
  const numbers = ['0x7', '0x9']
  const request = async ({ method }: { method: string }) =>
    method === 'eth_blockNumber' ? numbers.shift() : zeroHash
  const client = createPublicClient({ transport: custom({ request }) })
  const clients = stub<EvmClients>({ client, gathered: { client, agreed: client } })

  const [first, second] = await Promise.all([
    readWallet(clients, settings, input),
    readWallet(clients, settings, input),
  ])

  expect([first.block, second.block]).toEqual([7n, 9n])
})

const abi = [...geoEscrowAbi, ...geoVaultAbi, ...erc20Abi]
const token = input.token as Address
const block = { number: 7n } as Block

/** A node that answers calls by their function, and the block that each of its answers is of. */
function nodeWith(answers: Record<string, unknown> = {}) {
  const asked: string[] = []
  const request = async ({ method, params }: { method: string; params: [{ data?: Hex }, string] }) => {
    const data = params[0].data ?? '0x'
    const name = method === 'eth_call' ? nameOf(data) : method
    asked.push(`${name} ${params[1]}`)
    const answer = answers[name]
    if (answer instanceof Error) throw answer
    if (method !== 'eth_call' || typeof answer === 'string') return answer ?? '0x'
    return encodeFunctionResult({ abi, functionName: name, result: answer } as never)
  }
  // The start of the code is asked for by a byte.
  const nameOf = (data: Hex) => (data === '0x00' ? 'code' : decodeFunctionData({ abi, data }).functionName)
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  return { asked, client }
}

test.each<[Address, bigint | undefined, string]>([
  [zeroAddress, undefined, 'eth_getBalance latest'],
  [zeroAddress, 7n, 'eth_getBalance 0x7'],
  [token, undefined, 'balanceOf latest'],
  [token, 7n, 'balanceOf 0x7'],
])('a balance of %s at block %s is read by %s', async (of, blockNumber, call) => {
  const { asked, client } = nodeWith({ eth_getBalance: '0x5', balanceOf: 5n })

  const at = blockNumber === undefined ? {} : { blockNumber }
  expect(await readBalance(client, { owner: zeroAddress, token: of, ...at })).toBe(5n)
  expect(asked).toEqual([call])
})

test.each([
  [10n, 7n],
  [5n, 5n],
])('of a balance of %i, with a cap of 9 and 2 spent, %i can be delivered', async (balanceOf, amount) => {
  const { asked, client } = nodeWith({ balanceOf, caps: [9n, 2n] })
  const at = stub<EvmChainSettings>({ vault: zeroAddress, tokens: [token] })

  expect(await readHoldings(client, at, block)).toEqual([{ token, amount }])
  expect(asked.every((call) => call.endsWith(' 0x7'))).toBe(true)
})

const account = `0x${'3'.repeat(40)}` as const
const delegated = stub<EvmChainSettings>({ account, olderAccounts: [] })

test.each<[string, Hex, bigint | undefined, string[]]>([
  ['nobody', '0x', undefined, ['eth_getTransactionCount latest', 'eth_getTransactionCount pending']],
  ['nobody, at a block', '0x', 7n, ['eth_getTransactionCount 0x7', 'eth_getTransactionCount pending']],
  ['us', concat(['0xef0100', account]), undefined, []],
])('the nonces of a wallet that is delegated to %s are read as needed', async (_, code, at, calls) => {
  const { asked, client } = nodeWith({ code, eth_getTransactionCount: '0x4' })
  const clients = stub<EvmClients>({ client, gathered: { client } })

  const { kind } = await readDelegation(clients, delegated, zeroAddress, at)

  expect(kind).toBe(calls.length > 0 ? 'none' : 'ours')
  expect(asked.filter((call) => !call.startsWith('code'))).toEqual(calls)
})

test('a wallet is read at the asked block', async () => {
  const { asked, client } = nodeWith({ code: concat(['0xef0100', account]), balanceOf: 5n })
  const clients = stub<EvmClients>({ client, gathered: { client } })

  const { balance } = await readWalletState(clients, delegated, { ...input, blockNumber: 7n })

  expect([balance, ...asked]).toEqual([5n, 'code 0x7', 'balanceOf 0x7'])
})

const opOf = (hash: Hex, round = 2n) => stub<Op>({ hash, locker: zeroAddress, position: 0n, round })
const hashes = ['0x01', '0x02', '0x03'] as const
const held = (hash: Hex) => (1n << 222n) | BigInt(hash)
const escrow = stub<EvmChainSettings>({ escrow: zeroAddress })

test('a position holds an op, or another one', async () => {
  const { asked, client } = nodeWith({ slots: [held('0x01'), 0n, held('0x09')] })
  const clients = stub<EvmClients>({ agreed: client, gathered: { agreed: client } })

  const states = await readLocks(
    clients,
    escrow,
    hashes.map((hash) => opOf(hash)),
    block,
  )

  expect([...states.values()]).toEqual(['locked', 'none', 'none'])
  expect(asked).toEqual(['slots 0x7'])
})

test.each([
  [10, 'gathered'],
  [11, 'alone'],
])('reads of %i positions are made %s', async (count, by) => {
  const slots = Array.from({ length: count }, () => 0n)
  const [alone, gathered] = [nodeWith({ slots }), nodeWith({ slots })]
  const clients = stub<EvmClients>({ agreed: alone.client, gathered: { agreed: gathered.client } })

  await readLocks(
    clients,
    escrow,
    slots.map(() => opOf('0x01')),
    block,
  )

  expect([alone.asked.length, gathered.asked.length]).toEqual(by === 'alone' ? [1, 0] : [0, 1])
})

const vault = stub<EvmChainSettings>({ vault: zeroAddress, ringOf: () => zeroHash })
const undelivered = (answers: Record<string, unknown>) =>
  readUndelivered(
    nodeWith(answers).client,
    vault,
    hashes.map((hash) => opOf(hash)),
    block,
  )

test('an op is undelivered while its position is in an earlier round', async () => {
  expect(await undelivered({ lastRounds: [1n, 2n, 3n] })).toEqual(new Set(['0x01']))
})

const refused = new RpcRequestError({ body: {}, url: 'http://node', error: { code: -1, message: 'busy' } })

test.each<[string, Record<string, unknown>, boolean]>([
  ['nothing, as there was no contract yet', { lastRounds: '0x' }, true],
  ['nothing, though there is a contract', { lastRounds: '0x', eth_getCode: '0x60' }, false],
  ['with an error', { lastRounds: refused }, false],
])(
  'a node that answers %s says that nothing is delivered, or nothing at all',
  async (_, answers, isAnswer) => {
    const found = undelivered(answers)

    if (isAnswer) expect(await found).toEqual(new Set(hashes))
    else await expect(found).rejects.toThrow()
  },
)
