import { afterEach, expect, test } from 'vitest'
import { connect, startTestChain } from '../../test/shape-chain.ts'
import { DIRECT_PATH, type MeterRow } from './control-methods.ts'

const chain = await startTestChain('base', {
  logs: { blocks: 500, results: 2, refusal: 'infura' },
  callsPerSecond: 100_000,
})
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }

const hex = (value: number) => `0x${value.toString(16)}`
const headNumber = async () => Number(await chain.ask('eth_blockNumber'))

afterEach(async () => {
  await chain.ask('shape_setRateLimit', null)
  await chain.ask('shape_setBackendLag', null)
})

/** Repeats the call until both backends have answered, and returns their answers. */
async function fromBoth(method: string, params: unknown[]): Promise<Set<string>> {
  const answers = await Promise.all(Array.from({ length: 30 }, () => chain.outcome(method, params, '/')))
  return new Set(answers.map((answer) => JSON.stringify(answer.error ?? answer.result)))
}

test('logs over too many blocks are refused, by hash or over few they are not', async () => {
  const head = await headNumber()
  const logs = (from: number, to: number) =>
    chain.ask('eth_getLogs', { fromBlock: hex(from), toBlock: hex(to) })

  expect(await logs(head - 499, head)).toEqual([])
  await expect(logs(head - 500, head)).rejects.toThrow('-32602 range 500 exceeds limit of 500')
  await expect(chain.ask('eth_getLogs', { fromBlock: 'earliest' })).rejects.toThrow('exceeds limit of 500')
  const { hash } = await chain.ask<{ hash: string }>('eth_getBlockByNumber', '0x1', false)
  expect(await chain.ask('eth_getLogs', { blockHash: hash })).toEqual([])
})

test('too many results are refused too', async () => {
  const sender = await chain.wallet()
  // Emits three logs.
  await chain.send(sender, { to: null, data: '0x5f5fa05f5fa05f5fa05f5ff3', gas: 200_000n })
  await chain.mine()

  await expect(chain.ask('eth_getLogs', {})).rejects.toThrow('-32005 query returned more than 2 results')
})

test('Ethereum and Arbitrum have their own wording for a refused range', async () => {
  const [ethereum, arbitrum] = await Promise.all([startTestChain('ethereum'), startTestChain('arbitrum')])
  await arbitrum.ask('hardhat_mine', hex(3_000))
  await ethereum.ask('hardhat_mine', hex(500))

  await expect(ethereum.ask('eth_getLogs', { fromBlock: '0x0' })).rejects.toThrow(
    '-32602 exceed maximum block range 1000',
  )
  await expect(arbitrum.ask('eth_getLogs', { fromBlock: '0x0' })).rejects.toThrow(
    '-32600 You can make eth_getLogs requests with up to a 10000 block range. Based on your parameters, ' +
      'this block range should work: [0x0, 0x270f]',
  )
})

test('429 above the calls per second of one client, every other time with Retry-After', async () => {
  await chain.ask('shape_setRateLimit', 1)
  const batch = [BLOCK_NUMBER, BLOCK_NUMBER]

  const refusals = [await chain.post(batch, { client: 'a' }), await chain.post(batch, { client: 'a' })]
  const other = await chain.post(BLOCK_NUMBER, { client: 'b' })

  expect(refusals.map(({ status }) => status)).toEqual([429, 429])
  expect(new Set(refusals.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['1', null]))
  expect(refusals[0]?.body).toMatchObject({ error: { code: 429 } })
  expect(other.status).toBe(200)
})

test('the direct path and the test controls are never limited', async () => {
  await chain.ask('shape_setRateLimit', 0)

  const direct = await chain.post(BLOCK_NUMBER, { path: DIRECT_PATH })
  const equipment = await chain.post({ ...BLOCK_NUMBER, method: 'evm_mine' })
  const plain = await chain.post(BLOCK_NUMBER)

  expect([direct.status, equipment.status, plain.status]).toEqual([200, 200, 429])
})

test('a lagging second backend knows no newer block, state, log or receipt', async () => {
  const sender = await chain.wallet()
  const hash = await chain.send(sender, { to: null, data: '0x5f5fa05f5ff3', gas: 200_000n })
  await chain.mine()
  const head = await headNumber()
  const latest = hex(head)
  const block = await chain.ask<{ hash: string }>('eth_getBlockByNumber', latest, false)

  expect(await fromBoth('eth_blockNumber', [])).toEqual(new Set([`"${latest}"`, `"${hex(head - 2)}"`]))
  expect(await fromBoth('eth_getBlockByNumber', [latest, false])).toContain('null')
  expect(await fromBoth('eth_getBlockByHash', [block.hash, false])).toContain('null')
  expect(await fromBoth('eth_getTransactionReceipt', [hash])).toContain('null')
  expect(await fromBoth('eth_getLogs', [{ fromBlock: latest, toBlock: latest }])).toContain('[]')
  expect(await fromBoth('eth_getTransactionCount', [sender.address, 'latest'])).toEqual(
    new Set(['"0x1"', '"0x0"']),
  )
  expect(await fromBoth('eth_getBalance', [sender.address, latest])).toContain(
    '{"code":-32000,"message":"header not found"}',
  )
  const seen = await fromBoth('eth_getTransactionByHash', [hash])
  expect([...seen].some((text) => text.includes('"blockNumber":null'))).toBe(true)
  expect(seen.size).toBe(2)
})

test('without lag both backends answer the same', async () => {
  await chain.ask('shape_setBackendLag', 0)
  await chain.mine()

  expect((await fromBoth('eth_blockNumber', [])).size).toBe(1)
})

test('a block that does not exist yet has no state', async () => {
  const beyond = hex((await headNumber()) + 10)
  const { address } = await chain.wallet()

  await expect(chain.ask('eth_getBalance', address, beyond)).rejects.toThrow('-32000 header not found')
  expect(await chain.ask('eth_getBlockByNumber', beyond, false)).toBe(null)
})

test('the meter counts the calls of a batch by client and method, with bytes and price units', async () => {
  await chain.ask('shape_resetMeter')
  const call = { ...BLOCK_NUMBER, method: 'eth_call', params: [{ to: `0x${'00'.repeat(20)}` }, 'latest'] }

  await chain.post([BLOCK_NUMBER, BLOCK_NUMBER, call], { client: 'geoswap-worker/1' })
  await chain.post({ ...BLOCK_NUMBER, method: 'evm_mine' }, { client: 'geoswap-worker/1' })
  await chain.post(BLOCK_NUMBER, { client: 'geoswap-worker/1', path: DIRECT_PATH })

  const rows = await chain.ask<MeterRow[]>('shape_readMeter')
  const byMethod = new Map(rows.map((row) => [row.method, row]))
  expect([...byMethod.keys()].sort()).toEqual(['eth_blockNumber', 'eth_call'])
  expect(byMethod.get('eth_blockNumber')).toMatchObject({
    client: 'geoswap-worker/1',
    calls: 2,
    alchemyUnits: 20,
    infuraCredits: 160,
  })
  expect(byMethod.get('eth_call')).toMatchObject({ calls: 1, alchemyUnits: 26, infuraCredits: 80 })
  expect(byMethod.get('eth_call')?.requestBytes).toBeGreaterThan(50)
  expect(byMethod.get('eth_call')?.replyBytes).toBeGreaterThan(30)
})

test('refused calls are counted separately', async () => {
  await chain.ask('shape_resetMeter')
  await chain.ask('shape_setRateLimit', 0)

  await chain.post([BLOCK_NUMBER, BLOCK_NUMBER], { client: 'greedy' })

  const [row] = await chain.ask<MeterRow[]>('shape_readMeter')
  expect(row).toMatchObject({ client: 'greedy', calls: 0, refused: 2 })
})

test('a reverting call has code 3 and its data', async () => {
  // Reverts with Error("no").
  const reason = `08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`
  const code = `0x6064600c5f3960645ffd${'00'.repeat(2)}${reason}`

  const { error } = await chain.outcome('eth_call', [{ data: code }, 'latest'])

  expect(error).toEqual({ code: 3, message: 'execution reverted: no', data: `0x${reason}` })
})

test('heads arrive by WebSocket until subscriptions fall silent without an error', async () => {
  const socket = await connect(`${chain.url}/?client=heads`)

  socket.ask('eth_subscribe', 'newHeads')
  await socket.received(1)
  await chain.mine()
  const [, first] = await socket.received(2)
  const head = await headNumber()
  expect(first).toMatchObject({ method: 'eth_subscription', params: { result: { number: hex(head) } } })

  expect(await chain.ask('shape_silenceSubscriptions')).toBe(1)
  await chain.mine()
  socket.ask('eth_subscribe', 'newHeads')
  await socket.received(3)
  await chain.mine()
  const [, , answer, second] = await socket.received(4)
  expect(answer).toMatchObject({ id: 1 })
  expect(second).toMatchObject({ params: { result: { number: hex(head + 2) } } })

  const rows = await chain.ask<MeterRow[]>('shape_readMeter')
  const row = rows.find(({ client, method }) => client === 'heads' && method === 'eth_subscription')
  expect(row).toMatchObject({ calls: 2, infuraCredits: 100 })
  expect(row?.alchemyUnits).toBe(Math.ceil((row?.replyBytes ?? 0) * 0.04))
})

test('a log of Arbitrum has the hash that its sender signed', async () => {
  const arbitrum = await startTestChain('arbitrum')
  const sender = await arbitrum.wallet()
  const socket = await connect(arbitrum.url)
  socket.ask('eth_subscribe', 'logs', {})
  await socket.received(1)

  const hash = await arbitrum.send(sender, { to: null, data: '0x5f5fa05f5ff3', gas: 200_000n })
  await arbitrum.mine()

  const [, told] = await socket.received(2)
  expect(told).toMatchObject({ params: { result: { transactionHash: hash } } })
})

test('an unknown control, or an invalid parameter, is refused', async () => {
  await expect(chain.ask('shape_fly')).rejects.toThrow('-32601')
  await expect(chain.ask('shape_advance', -1)).rejects.toThrow('-32602 expected a number above 0')
  await expect(chain.ask('shape_setRateLimit', 1.5)).rejects.toThrow('-32602 expected a whole number')
})

test('requests that are not JSON-RPC get one clear error', async () => {
  const response = await fetch(chain.url, { method: 'POST', body: '{' })

  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_700, message: 'parse error' },
  })
  expect((await chain.post({ id: 7 })).body).toMatchObject({ id: 7, error: { code: -32_600 } })
  expect((await chain.post([null, BLOCK_NUMBER])).body).toMatchObject([
    { error: { code: -32_600 } },
    { id: 1 },
  ])
  expect((await chain.post([])).body).toMatchObject({ error: { code: -32_600 } })
})
