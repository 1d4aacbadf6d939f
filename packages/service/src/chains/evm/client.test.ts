import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { numberToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isUnknownBlock } from './agreement.ts'
import { createEvmClient, createEvmClients } from './client.ts'
import { readWallet } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

type Call = { id: number; method: string; params?: unknown[] }
let answer: (calls: readonly Call[]) => unknown
let requests = 0

const server = createServer((request, reply) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    requests += 1
    reply.end(JSON.stringify(answer(JSON.parse(Buffer.concat(parts).toString()))))
  })
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  requests = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

test('an error names the node without the key in its URL', async () => {
  answer = () => ({ id: 0, error: { code: -32_000, message: 'no' } })
  const client = createEvmClient({ urls: [`${url}/v2/secret-key`] })
  const refused = await client.getBlockNumber().catch((error: Error) => error)
  const silent = createEvmClient({ urls: ['http://127.0.0.1:1/v2/secret-key'] })
  const failed = await silent.getBlockNumber().catch((error: Error) => error)
  for (const error of [refused, failed]) {
    expect(error).toBeInstanceOf(Error)
    expect(`${error} ${inspect(error)}`).toContain('127.0.0.1')
    expect(inspect(error)).not.toContain('secret-key')
  }
})

test('calls of one tick share one request and are matched to answers in any order', async () => {
  answer = (calls) =>
    calls.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? '0x1' : '0x2' })).reverse()
  const client = createEvmClient({ urls: [url] })
  expect(await Promise.all([client.getChainId(), client.getBlockNumber()])).toEqual([1, 2n])
  expect(requests).toBe(1)
})

test('a transaction is sent alone, so that its refusal does not affect other calls', async () => {
  answer = (calls) =>
    calls.some(({ method }) => method === 'eth_sendRawTransaction')
      ? { id: 0, error: { code: -32_601, message: 'read only' } }
      : calls.map(({ id }) => ({ id, result: '0x2' }))
  const client = createEvmClient({ urls: [url] })
  const sent = client.sendRawTransaction({ serializedTransaction: '0x01' })
  const asked = client.getBlockNumber()

  await expect(sent).rejects.toThrow('read only')
  expect(await asked).toBe(2n)
})

test('more calls than one request may carry are split into several', async () => {
  answer = (calls) => calls.map(({ id }) => ({ id, result: '0x1' }))
  const client = createEvmClient({ urls: [url] })
  const addresses = Array.from({ length: 250 }, (_, n) => numberToHex(n, { size: 20 }))
  await Promise.all(addresses.map((address) => client.getBalance({ address })))
  expect(requests).toBe(3)
})

test('a read at a block that a lagging backend does not have is repeated, and fails if no backend has it', async () => {
  const unknown = (id: number) => ({ id, error: { code: -32_000, message: 'header not found' } })
  answer = (calls) => calls.map(({ id }) => (requests === 1 ? unknown(id) : { id, result: '0x2' }))
  const client = createEvmClient({ urls: [url] })
  const read = () => client.getTransactionCount({ address: zeroAddress, blockNumber: 9n })

  expect(await read()).toBe(2)
  expect(requests).toBe(2)

  answer = (calls) => calls.map(({ id }) => unknown(id))
  const failed = await read().catch((error: Error) => error)
  expect([isUnknownBlock(failed), requests]).toEqual([true, 5])
})

test('a patient client asks until a backend has the newest block; no call waits once the time is over', async () => {
  const patient = (patienceMs: number) => createEvmClients({ urls: [url, url], patienceMs }).agreed
  const block = { number: '0x9', hash: '0x09', timestamp: '0x1', transactions: [] }
  const tell = (hasBlock: () => boolean) => (calls: readonly Call[]) =>
    calls.map(({ id, method }) => ({
      id,
      result: method === 'eth_blockNumber' ? '0x9' : hasBlock() ? block : null,
    }))
  const end = performance.now() + 500
  answer = tell(() => performance.now() > end)

  expect((await patient(5_000).getBlock()).number).toBe(9n)

  answer = tell(() => false)
  const client = patient(300)
  await expect(client.getBlock()).rejects.toThrow('does not have this block')
  const before = requests
  await expect(client.getBlock({ blockNumber: 9n })).rejects.toThrow('could not be found')
  expect(requests - before).toBe(2)
})

test('a patient client asks a contract once that reverts with the words of a node', async () => {
  const error = { code: 3, message: 'execution reverted: block not found', data: '0x01' }
  answer = (calls) => calls.map(({ id }) => ({ id, error }))

  const client = createEvmClients({ urls: [url], patienceMs: 5_000 }).client
  await expect(client.call({ to: zeroAddress })).rejects.toThrow()

  expect(requests).toBe(1)
})

test('an error of the node keeps its code and never contains the request', async () => {
  answer = (calls) => calls.map(({ id }) => ({ id, error: { code: -32000, message: 'nonce too low' } }))
  const client = createEvmClient({ urls: [url] })
  const failure = await client.sendRawTransaction({ serializedTransaction: '0xabcdef' }).catch((e) => e)
  expect(failure.walk((e: { code?: number }) => e.code === -32000).message).toContain('nonce too low')
  expect(failure.message).not.toContain('abcdef')
})

test('one error for a whole request is the error of each call', async () => {
  answer = () => ({ error: { code: -32600, message: 'no batches here' } })
  const client = createEvmClient({ urls: [url] })
  const failures = await Promise.allSettled([client.getChainId(), client.getBlockNumber()])
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a missing answer is an error, not another call’s answer', async () => {
  answer = (calls) => calls.slice(1).map(({ id }) => ({ id, result: '0x1' }))
  const client = createEvmClient({ urls: [url] })
  await expect(Promise.all([client.getChainId(), client.getBlockNumber()])).rejects.toThrow()
})

test('a node that is down is skipped', async () => {
  answer = (calls) => calls.map(({ id }) => ({ id, result: '0x7' }))
  const client = createEvmClient({ urls: ['http://127.0.0.1:9', url] })
  expect(await client.getChainId()).toBe(7)
})

test("a wallet's delegation, balance and block are read in one call", async () => {
  const bodies: string[][] = []
  answer = (calls) => {
    bodies.push(calls.map(({ method }) => method))
    return calls.map(({ id }) => ({ id, error: { code: -32_000, message: 'no' } }))
  }
  const input = { wallet: zeroAddress, token: '0x00000000000000000000000000000000000000aa' }

  const reading = readWallet(createEvmClients({ urls: [url] }), {} as EvmChainSettings, input)

  await expect(reading).rejects.toThrow('no')
  expect(bodies).toEqual([['eth_call']])
})
