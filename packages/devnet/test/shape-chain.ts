import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll } from 'vitest'
import { WebSocket } from 'ws'
import { DIRECT_PATH } from '../src/shape/control-methods.ts'
import { EVM_SHAPES, type EvmShape, type EvmShapeName } from '../src/shape/evm-shape.ts'
import { createRpcServer } from '../src/shape/server.ts'
import { createShapedChain } from '../src/shape/shaped-chain.ts'

export const CHAIN_ID = 31_337
const ETHER = 10n ** 18n

type Reply = { status: number; retryAfter: string | null; body: unknown }
type Body = { result?: unknown; error?: { code: number; message: string; data?: unknown } }

/** A shaped chain in this process, which makes blocks only on demand. */
export async function startTestChain(name: EvmShapeName, changes: Partial<EvmShape> = {}) {
  const shape = { ...EVM_SHAPES[name], ...changes }
  const chain = await createShapedChain({ shape, chainId: CHAIN_ID, blockMs: 0, onFault: fail })
  const server = createRpcServer(chain, 5_000)
  const url = await listen(server)
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  async function post(body: unknown, options: { path?: string; client?: string } = {}): Promise<Reply> {
    const response = await fetch(`${url}${options.path ?? '/'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': options.client ?? 'test' },
      body: JSON.stringify(body),
    })
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, retryAfter, body: await response.json() }
  }

  async function outcome(method: string, params: unknown[], path = DIRECT_PATH): Promise<Body> {
    return (await post({ jsonrpc: '2.0', id: 1, method, params }, { path })).body as Body
  }

  /** The answer of the leading backend; an error is thrown with its text. */
  async function ask<T = string>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await outcome(method, params)
    if (error) throw new Error(`${error.code} ${error.message}`)
    return result as T
  }

  /** An account with one ether. */
  async function wallet(balance = ETHER): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(generatePrivateKey())
    await ask('hardhat_setBalance', account.address, `0x${balance.toString(16)}`)
    return account
  }

  /** Sends an empty transfer, or another transaction. */
  async function send(account: PrivateKeyAccount, fields: Record<string, unknown> = {}): Promise<Hex> {
    return ask<Hex>('eth_sendRawTransaction', await sign(account, fields))
  }

  const balanceOf = async (address: Address) => BigInt(await ask('eth_getBalance', address, 'latest'))
  const mine = () => ask('evm_mine')
  return { shape, url, post, outcome, ask, wallet, send, balanceOf, mine }
}

export async function sign(account: PrivateKeyAccount, fields: Record<string, unknown> = {}): Promise<Hex> {
  const plain = {
    type: 'authorizationList' in fields ? 'eip7702' : 'eip1559',
    chainId: CHAIN_ID,
    nonce: 0,
    to: account.address,
    value: 0n,
    gas: 100_000n,
    maxFeePerGas: 20n * 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n,
  }
  return account.signTransaction({ ...plain, ...fields } as Parameters<typeof account.signTransaction>[0])
}

/** A WebSocket to the chain, and the messages received. */
export async function connect(url: string) {
  const socket = new WebSocket(url.replace('http', 'ws'))
  const messages: unknown[] = []
  const waiting: (() => void)[] = []
  socket.on('message', (text) => {
    messages.push(JSON.parse(String(text)))
    for (const wake of waiting.splice(0)) wake()
  })
  await new Promise((resolve) => socket.on('open', resolve))
  afterAll(() => socket.terminate())
  return {
    ask: (method: string, ...params: unknown[]) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
    /** All messages, once this many have arrived. */
    async received(count: number): Promise<unknown[]> {
      while (messages.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
      return messages
    },
  }
}

function fail(error: unknown): never {
  throw error
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}
