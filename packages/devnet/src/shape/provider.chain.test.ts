import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { DIRECT_PATH, type MeterRow } from './control-methods.ts'
import { startTestChain } from './test-chain.ts'

type Body = { result?: unknown; error?: { code: number; message: string } }

const chain = await startTestChain('base', { logs: { blocks: 500, results: 2, refusal: 'range-32005' } })
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }

const hex = (value: number) => `0x${value.toString(16)}`
const headNumber = async () => Number(await chain.ask('eth_blockNumber'))

afterEach(async () => {
  await chain.ask('shape_setRateLimit', null)
  await chain.ask('shape_setBackendLag', null)
})

/** Asks until each of the two backends has answered, and tells the answers of both. */
async function fromBoth(method: string, params: unknown[]): Promise<Set<string>> {
  const answers = await Promise.all(Array.from({ length: 30 }, () => chain.outcome(method, params, '/')))
  return new Set(answers.map((answer) => JSON.stringify(answer.error ?? answer.result)))
}

test('logs over too many blocks are refused, and by hash or over few are not', async () => {
  const head = await headNumber()
  const logs = (from: number, to: number) =>
    chain.ask('eth_getLogs', { fromBlock: hex(from), toBlock: hex(to) })

  expect(await logs(head - 499, head)).toEqual([])
  await expect(logs(head - 500, head)).rejects.toThrow('-32005 query exceeds max block range')
  await expect(chain.ask('eth_getLogs', { fromBlock: 'earliest' })).rejects.toThrow('max block range')
})

test('too many results are refused too', async () => {
  const sender = await chain.wallet()
  // Emits three logs.
  await chain.send(sender, { to: null, data: '0x5f5fa05f5fa05f5fa05f5ff3', gas: 200_000n })
  await chain.mine()

  await expect(chain.ask('eth_getLogs', {})).rejects.toThrow('-32005 query returned more than 2 results')
})

test('Ethereum and Arbitrum word the refusal of a range in their own ways', async () => {
  const [ethereum, arbitrum] = await Promise.all([startTestChain('ethereum'), startTestChain('arbitrum')])
  await arbitrum.ask('hardhat_mine', hex(3_000))
  await ethereum.ask('hardhat_mine', hex(500))

  await expect(ethereum.ask('eth_getLogs', { fromBlock: '0x0' })).rejects.toThrow(
    '-32602 exceed maximum block range 1000',
  )
  await expect(arbitrum.ask('eth_getLogs', { fromBlock: '0x0' })).rejects.toThrow(
    '-32600 You can make eth_getLogs requests with up to a 10000 block range.',
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

test('the direct path and the test equipment are never limited', async () => {
  await chain.ask('shape_setRateLimit', 0)

  const direct = await chain.post(BLOCK_NUMBER, { path: DIRECT_PATH })
  const equipment = await chain.post({ ...BLOCK_NUMBER, method: 'evm_mine' })
  const plain = await chain.post(BLOCK_NUMBER)

  expect([direct.status, equipment.status, plain.status]).toEqual([200, 200, 429])
})

test('a second backend is behind: it knows no newer block, state, log or receipt', async () => {
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

test('no lag is as if there were one backend', async () => {
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

test('refused calls are metered apart', async () => {
  await chain.ask('shape_resetMeter')
  await chain.ask('shape_setRateLimit', 0)

  await chain.post([BLOCK_NUMBER, BLOCK_NUMBER], { client: 'greedy' })

  const [row] = await chain.ask<MeterRow[]>('shape_readMeter')
  expect(row).toMatchObject({ client: 'greedy', calls: 0, refused: 2 })
})

test('a call that reverts answers with code 3 and its data', async () => {
  // Reverts with Error("no").
  const reason = `08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`
  const code = `0x6064600c5f3960645ffd${'00'.repeat(2)}${reason}`

  const { error } = await chain.outcome('eth_call', [{ data: code }, 'latest'])

  expect(error).toEqual({ code: 3, message: 'execution reverted: no', data: `0x${reason}` })
})

test('heads arrive by WebSocket until subscriptions fall silent without an error', async () => {
  const socket = new WebSocket(`${chain.url.replace('http', 'ws')}/?client=heads`)
  const messages: Body[] = []
  const waiting: (() => void)[] = []
  socket.on('message', (text) => {
    messages.push(JSON.parse(String(text)))
    for (const wake of waiting.splice(0)) wake()
  })
  const received = async (count: number) => {
    while (messages.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  await new Promise((resolve) => socket.on('open', resolve))
  const subscribe = () =>
    socket.send(JSON.stringify({ ...BLOCK_NUMBER, method: 'eth_subscribe', params: ['newHeads'] }))

  subscribe()
  await received(1)
  await chain.mine()
  await received(2)
  const head = await headNumber()
  expect(messages[1]).toMatchObject({ method: 'eth_subscription', params: { result: { number: hex(head) } } })

  expect(await chain.ask('shape_silenceSubscriptions')).toBe(1)
  await chain.mine()
  subscribe()
  await received(3)
  expect(messages[2]).toMatchObject({ id: 1 })
  await chain.mine()
  await received(4)
  expect(messages[3]).toMatchObject({ params: { result: { number: hex(head + 2) } } })
  const rows = await chain.ask<MeterRow[]>('shape_readMeter')
  expect(rows.find(({ client, method }) => client === 'heads' && method === 'eth_subscription')?.calls).toBe(
    2,
  )
  socket.close()
})

test('a control that does not exist, or is given nonsense, is refused', async () => {
  await expect(chain.ask('shape_fly')).rejects.toThrow('-32601')
  await expect(chain.ask('shape_advance', -1)).rejects.toThrow('-32602 expected a number above 0')
  await expect(chain.ask('shape_setRateLimit', 1.5)).rejects.toThrow('-32602 expected a whole number')
})

test('requests that are no JSON-RPC get one clear error', async () => {
  const response = await fetch(chain.url, { method: 'POST', body: '{' })

  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_700, message: 'parse error' },
  })
  expect((await chain.post({ id: 7 })).body).toMatchObject({ id: 7, error: { code: -32_600 } })
})
