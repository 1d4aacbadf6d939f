import { SOL, startWorld, type World } from '@geoswap/solana-rpc/test/world'
import type { Signature } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { controlShape, DIRECT_PATH } from '../src/shape/control-methods.ts'
import { CONFIRMED_LAG, createProvider } from '../src/shape/solana/provider.ts'

let world: World
let url: string

beforeAll(async () => {
  world = await startWorld({ createFront: createProvider, confirmedLag: CONFIRMED_LAG, slotMs: 400 })
  url = world.chain.rpcUrl
})

afterAll(() => world.chain.stop())

beforeEach(async () => {
  await world.dev.dev_pauseSlots().send()
  await controlShape(url, 'shape_setRateLimit', null)
  await controlShape(url, 'shape_setBackendLag', null)
  await controlShape(url, 'shape_resetMeter')
})

type Reply = { result?: unknown; error?: { code: number } }

async function ask(target: string, calls: { method: string; params?: unknown[] }[]) {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, params: [], ...call })))
  const response = await fetch(target, { method: 'POST', body, headers: { 'user-agent': 'tester' } })
  return { status: response.status, headers: response.headers, replies: (await response.json()) as Reply[] }
}

async function landed(): Promise<Signature> {
  const payer = await world.fundedSigner()
  const transfer = getTransferSolInstruction({ source: payer, destination: payer.address, amount: SOL })
  await world.dev.dev_advanceSlots(2).send()
  return world.send(payer, [transfer])
}

async function many(method: string, params: unknown[], target = url): Promise<Reply[]> {
  const { replies } = await ask(
    target,
    Array.from({ length: 60 }, () => ({ method, params })),
  )
  return replies
}

const slotAt = async (commitment: string) =>
  (await many('getSlot', [{ commitment }], `${url}${DIRECT_PATH}`))[0]?.result as number

test('a slot is confirmed two slots later, and finalized 32 slots later', async () => {
  const newest = await slotAt('processed')

  expect([await slotAt('confirmed'), await slotAt('finalized')]).toEqual([newest - 2, newest - 32])
})

test('a confirmed transaction is not known to every node of the pool', async () => {
  const signature = await landed()
  await world.dev.dev_advanceSlots(2).send()
  const params = [signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]

  const early = (await many('getTransaction', params)).map(({ result }) => result !== null)
  await world.dev.dev_advanceSlots(3).send()
  const late = (await many('getTransaction', params)).map(({ result }) => result !== null)

  expect(new Set(early)).toEqual(new Set([true, false]))
  expect(new Set(late)).toEqual(new Set([true]))
})

test('the history of an address lags on the same node', async () => {
  const payer = await world.fundedSigner()
  await world.dev.dev_advanceSlots(1).send()
  const params = [payer.address, { commitment: 'confirmed' }]

  const lengths = (await many('getSignaturesForAddress', params)).map(
    ({ result }) => (result as unknown[]).length,
  )

  expect(new Set(lengths)).toEqual(new Set([0, 1]))
})

test('-32016 only from a node that has not reached minContextSlot', async () => {
  const minContextSlot = await slotAt('confirmed')
  const params = [{ commitment: 'confirmed', minContextSlot }]

  const pooled = await many('getSlot', params)
  const direct = await many('getSlot', params, `${url}${DIRECT_PATH}`)

  expect(new Set(pooled.map(({ error }) => error?.code))).toEqual(new Set([undefined, -32016]))
  expect(direct.every(({ error }) => error === undefined)).toBe(true)
})

test('429 for a batch beyond the limit, counted as its calls, while deployments continue', async () => {
  await controlShape(url, 'shape_setRateLimit', 5)
  const calls = Array.from({ length: 6 }, () => ({ method: 'getSlot' }))

  const { status, headers } = await ask(url, calls)

  expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  expect((await ask(`${url}${DIRECT_PATH}`, calls)).status).toBe(200)
})

test('the meter counts the calls of a client, without controls and direct calls', async () => {
  await ask(url, [{ method: 'getSlot' }, { method: 'getHealth' }])
  await ask(`${url}${DIRECT_PATH}`, [{ method: 'getSlot' }])

  const rows = (await controlShape(url, 'shape_readMeter')).filter(({ client }) => client === 'tester')

  expect(rows.map(({ method, calls }) => [method, calls])).toEqual([
    ['getSlot', 1],
    ['getHealth', 1],
  ])
})

test('an hour passes at once, and recent transactions become final', async () => {
  const before = await controlShape(url, 'shape_advance', 0)
  const signature = await landed()

  const after = await controlShape(url, 'shape_advance', 3_600)
  const { value } = await world.rpc
    .getSignatureStatuses([signature], { searchTransactionHistory: true })
    .send()

  expect(after.timestamp - before.timestamp).toBeGreaterThanOrEqual(3_600)
  expect(after.blockNumber - before.blockNumber).toBeGreaterThanOrEqual(9_000)
  expect(value[0]?.confirmationStatus).toBe('finalized')
})

test('halted finality stays while slots advance, and catches up', async () => {
  await controlShape(url, 'shape_haltFinality')
  const halted = await slotAt('finalized')
  await world.dev.dev_advanceSlots(100).send()
  const meanwhile = await slotAt('finalized')

  await controlShape(url, 'shape_resumeFinality')
  await world.dev.dev_advanceSlots(1).send()

  expect(meanwhile).toBe(halted)
  expect((await slotAt('processed')) - (await slotAt('finalized'))).toBe(32)
})
