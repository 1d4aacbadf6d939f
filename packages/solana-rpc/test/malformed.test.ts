import { generateKeyPairSigner, getTransactionEncoder } from '@solana/kit'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { SOL, startWorld, type World } from './world.ts'

const METHODS = [
  ...['getBalance', 'getAccountInfo', 'getMultipleAccounts', 'getProgramAccounts', 'getTokenAccountBalance'],
  ...['getTokenAccountsByOwner', 'getTokenSupply', 'getTokenLargestAccounts', 'getTransaction', 'getBlock'],
  ...['getSignatureStatuses', 'getSignaturesForAddress', 'sendTransaction', 'simulateTransaction'],
  ...['requestAirdrop', 'getFeeForMessage', 'getMinimumBalanceForRentExemption', 'isBlockhashValid'],
  ...['getLatestBlockhash', 'getSlot', 'getBlocks', 'getBlocksWithLimit', 'getBlockTime', 'getEpochInfo'],
  ...['dev_advanceSlots', 'dev_dropTransactions', 'dev_delayTransactions', 'dev_setAccount', 'constructor'],
]
const WALLET = '4Nd1mYvM6V9Qn5nFgXvNq2mVhU4mFhHnUQ2vYyqQxqzK'
const ODD_VALUES = [
  ...[null, true, -1, 0, 1.5, 1e300, '', 'x', '0', WALLET, [], [[]], [null], {}, { commitment: 'x' }],
  ...[{ commitment: 7 }, { encoding: 'zip' }, { minContextSlot: 'a' }, { dataSlice: 5 }, { filters: [{}] }],
  ...[{ mint: 1 }, { programId: WALLET }, { limit: -1 }, { lamports: 1, data: 3 }, '1'.repeat(5000)],
]

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.chain.stop())

async function codeOf(body: string): Promise<number | undefined> {
  const { status, text } = await world.post(body)
  expect(status).toBe(200)
  return (JSON.parse(text) as { error?: { code: number } }).error?.code
}

test.each([
  ['no JSON', '{', -32700],
  ['an empty body', '', -32700],
  ['a number', '7', -32600],
  ['an empty batch', '[]', -32600],
  ['no version', '{"id":1,"method":"getSlot"}', -32600],
  ['a method that is not text', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
  ['parameters by name', '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":{"a":1}}', -32602],
  ['a name every object has', '{"jsonrpc":"2.0","id":1,"method":"toString","params":[]}', -32601],
])('a request with %s is answered with its error', async (_name, body, code) => {
  expect(await codeOf(body)).toBe(code)
})

test('a batch is answered in order, bad members included, notifications not', async () => {
  const { text } = await world.post(
    '[{"jsonrpc":"2.0","id":"a","method":"getHealth"},3,{"jsonrpc":"2.0","method":"getHealth"},' +
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"getHealth"}]',
  )

  expect(text).toBe(
    '[{"jsonrpc":"2.0","result":"ok","id":"a"},' +
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":null},' +
      '{"jsonrpc":"2.0","result":"ok","id":12345678901234567890}]',
  )
})

test('a browser on another origin may call', async () => {
  const preflight = await fetch(world.chain.rpcUrl, { method: 'OPTIONS' })

  expect(preflight.ok).toBe(true)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
})

test('invalid parameters of any method are answered, and never with an internal error', async () => {
  const paramLists = ODD_VALUES.flatMap((first) => [[first], ...ODD_VALUES.map((second) => [first, second])])
  for (const method of METHODS) {
    const batch = paramLists.map((params, id) => ({ jsonrpc: '2.0', id, method, params }))
    const { text } = await world.post(JSON.stringify(batch))
    const answers = JSON.parse(text) as { id: number; error?: { code: number } }[]

    expect(answers.length).toBe(paramLists.length)
    const internal = answers.filter(({ error }) => error?.code === -32603)
    expect(internal.map(({ id }) => [method, paramLists[id]])).toEqual([])
  }
})

test('a transaction with any changed bytes is answered and never lands', async () => {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const signed = await world.sign(payer, [
    getSetComputeUnitLimitInstruction({ units: 1000 }),
    getTransferSolInstruction({ source: payer, destination: to.address, amount: SOL }),
  ])
  const valid = new Uint8Array(getTransactionEncoder().encode(signed))
  const random = createRandom(7)

  const requests = Array.from({ length: 1500 }, (_, round) => {
    const bytes = Uint8Array.from(valid)
    if (round % 3 === 0) bytes[random(65)] = random(256)
    const position = 65 + random(bytes.length - 65)
    bytes[position] = (bytes[position] ?? 0) ^ (1 + random(255))
    const wire = Buffer.from(bytes.subarray(0, round % 9 === 0 ? random(bytes.length) : bytes.length))
    const method = round % 2 === 0 ? 'simulateTransaction' : 'sendTransaction'
    const params = [wire.toString('base64'), { encoding: 'base64', skipPreflight: round % 4 === 1 }]
    return { jsonrpc: '2.0', id: round, method, params }
  })
  const { text } = await world.post(JSON.stringify(requests))

  expect((JSON.parse(text) as unknown[]).length).toBe(requests.length)
  const { value } = await world.rpc.getBalance(to.address, { commitment: 'processed' }).send()
  expect(value).toBe(0n)
})

test('malformed WebSocket messages leave the connection usable', async () => {
  const socket = new WebSocket(world.chain.wsUrl)
  const answers: string[] = []
  socket.onmessage = ({ data }) => answers.push(String(data))
  await new Promise((resolve) => {
    socket.onopen = resolve
  })

  for (const text of [
    '{',
    '[]',
    '{"jsonrpc":"2.0","method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"no"}',
  ]) {
    socket.send(text)
  }
  socket.send('{"jsonrpc":"2.0","id":2,"method":"slotUnsubscribe","params":[99]}')
  socket.send('{"jsonrpc":"2.0","id":3,"method":"logsSubscribe","params":["all"]}')
  await expect.poll(() => answers.length, { timeout: 10_000 }).toBe(5)

  const codes = answers.map((answer) => (JSON.parse(answer) as { error?: { code: number } }).error?.code)
  expect(codes).toEqual([-32700, -32600, -32601, -32602, undefined])
  socket.close()
})

/** A small linear congruential generator: the same mutations in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
