import { getAddress, type Hex } from 'viem'
import { afterEach, beforeAll, expect, inject, test } from 'vitest'
import { type CheckedClient, createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const wallet = { address: getAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8') }
const base = toRequest(wallet, { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10_000_000n })
const REVERTS: Hex = '0x5f5ffd'

let api: CheckedClient
let usual: bigint
beforeAll(async () => {
  api = createCheckedClient({ ...local, apiKey: await createOperator(inject('databaseUrl')).createKey() })
  usual = BigInt((await quoteOnceSettled(api, { ...base, outputToken: beta.token('GEO') })).output)
})

const quoteOf = (buy: string) => api.quote({ ...base, outputToken: beta.token(buy) })

/** Waits for a quote with this share of the usual output. Gas moves it slightly. */
const untilQuoted = (expectedBps: number) =>
  until(async () => {
    const { status, body } = await quoteOf('GEO')
    if (status !== 200) return false
    return Math.abs(Number((BigInt(body.output) * 10_000n) / usual) - expectedBps) <= 5
  })

/** The live sources of an asset, as `/metrics` counts them. */
async function liveSources(asset: string): Promise<number> {
  const text = await (await fetch(`${local.apiUrl}/metrics`)).text()
  return Number(new RegExp(`^geoswap_price_sources_live{asset="${asset}"} (\\d+)$`, 'm').exec(text)?.[1])
}

const untilLive = (count: number) => until(async () => (await liveSources('GEO')) === count)
const untilRefused = () =>
  until(async () => {
    const reply = await quoteOf('GEO')
    return reply.status !== 200 && reply
  })

afterEach(async () => {
  await world.setPrice('GEO', 0.5)
  await Promise.all([alpha.mine(), beta.mine()])
  await untilLive(2)
  await untilQuoted(10_000)
})

test('every asset has two live sources', async () => {
  const assets = ['USDC', 'ETH', 'SOL', 'GEO', 'USDG']
  // A feed has no answer while its chain is silent: at the start of a network, and on a busy machine.
  await until(async () => (await Promise.all(assets.map(liveSources))).every((count) => count === 2))
})

test('if a feed reverts, the other one provides the price', async () => {
  const feed = world.feedOf(beta, 'GEO').address
  const code = await beta.codeOf(feed)
  try {
    await beta.client.setCode({ address: feed, bytecode: REVERTS })
    await untilLive(1)

    expect(refusalOf(await quoteOf('GEO'))).toBe('200 OK')
  } finally {
    await beta.client.setCode({ address: feed, bytecode: code })
  }
})

test('503 PRICE_UNAVAILABLE while no feed has an answer; other tokens are not affected', async () => {
  await world.setPrice('GEO', 0)
  const reply = await untilRefused()

  expect(refusalOf(reply)).toBe('503 PRICE_UNAVAILABLE')
  expect(reply.body.details).toEqual({ asset: 'GEO' })
  expect(refusalOf(await quoteOf('USDC'))).toBe('200 OK')
})

test('503 PRICE_UNAVAILABLE while two feeds disagree, and a quote again when they agree', async () => {
  await world.setFeed(beta, 'GEO', 0.55)
  const reply = await untilRefused()

  expect(refusalOf(reply)).toBe('503 PRICE_UNAVAILABLE')
  expect(reply.body.details).toEqual({ asset: 'GEO' })
  expect(JSON.stringify(reply.body)).not.toMatch(/0x|http|chainlink/)
  expect(await liveSources('GEO')).toBe(2)
  expect(refusalOf(await quoteOf('USDC'))).toBe('200 OK')

  await world.setFeed(alpha, 'GEO', 0.55)
  // 0.5 / 0.55
  await untilQuoted(9_090)
})

test('between feeds that differ within the limit, the worse one for the caller counts', async () => {
  await world.setFeed(beta, 'GEO', 0.51)

  // 0.5 / 0.51
  await untilQuoted(9_803)
  // Sold, it counts at 0.5.
  const sale = { ...base, inputToken: alpha.token('GEO'), outputToken: beta.token('USDC') }
  const { inputUsd, outputUsd } = await quoteOnceSettled(api, { ...sale, amount: `${10n ** 20n}` })
  expect(Number(inputUsd)).toBeCloseTo(50.5, 1)
  expect(Number(outputUsd)).toBeLessThan(50)
})

test('an output follows the market down to its minimum, and the status says why', async () => {
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'GEO', amount: 10_000_000n }
  const prepared = async () => {
    const owner = await world.walletWith(alpha, 'USDC', 100_000_000n)
    return { owner, ...(await prepare({ api }, owner, order)) }
  }
  const [near, far] = [await prepared(), await prepared()]
  await world.setPrice('GEO', 0.505)
  await untilQuoted(9_900)

  const less = await outcomeOf({ api }, (await api.submit(near.submission)).body.swapId)
  await world.setPrice('GEO', 0.52)
  await untilQuoted(9_615)
  const none = await outcomeOf({ api }, (await api.submit(far.submission)).body.swapId)

  expect(less.status).toBe('settled')
  const { delivered = '', quotedOutput, minOutput, repriced } = less.amounts
  expect(repriced).toEqual({ output: delivered, reason: 'PRICE_MOVED' })
  expect(BigInt(delivered)).toBeLessThan(BigInt(quotedOutput))
  expect(BigInt(delivered)).toBeGreaterThanOrEqual(BigInt(minOutput))
  expect(await beta.balanceOf(near.owner.address, 'GEO')).toBe(BigInt(delivered))
  expect(none).toMatchObject({ status: 'failed', failure: { code: 'PRICE_MOVED' } })
  expect(await alpha.balanceOf(far.owner.address, 'USDC')).toBe(100_000_000n)
})

test('a price that is on the chains before the submission counts, and not the one that was known', async () => {
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'GEO', amount: 10_000_000n }
  const [buyer, sender] = [
    await world.walletWith(alpha, 'USDC', 100_000_000n),
    await world.walletWith(alpha, 'USDC', 100_000_000n),
  ]
  const bought = await prepare({ api }, buyer, order)
  const sent = await prepare({ api }, sender, { ...order, buy: 'USDC' })
  await world.setPrice('GEO', 0.505)
  await Promise.all([alpha.mine(), beta.mine()])

  const submitted = await Promise.all([bought, sent].map(({ submission }) => api.submit(submission)))
  const [swap, transfer] = await Promise.all(submitted.map(({ body }) => outcomeOf({ api }, body.swapId)))

  expect([swap?.status, transfer?.status]).toEqual(['settled', 'settled'])
  const { delivered = '', quotedOutput = '', repriced } = swap?.amounts ?? {}
  expect(repriced).toEqual({ output: delivered, reason: 'PRICE_MOVED' })
  // Beyond the tolerance of 0.1 %.
  expect(BigInt(delivered) * 1_000n).toBeLessThan(BigInt(quotedOutput) * 999n)
  expect(transfer?.amounts.repriced).toBeUndefined()
  expect(transfer?.amounts.delivered).toBe(transfer?.amounts.quotedOutput)
})

test('an accepted swap is not locked while feeds disagree, and settles when they agree again', async () => {
  const owner = await world.walletWith(alpha, 'USDC', 100_000_000n)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'GEO', amount: 10_000_000n }
  const { submission } = await prepare({ api }, owner, order)
  await world.setFeed(beta, 'GEO', 0.55)
  await untilRefused()

  const { swapId } = (await api.submit(submission)).body
  const from = await alpha.client.getBlockNumber()
  await until(async () => (await alpha.client.getBlockNumber()) >= from + 3n)
  const waiting = (await api.status(swapId, 0)).body

  expect(waiting.timeline.map(({ stage }) => stage)).toEqual(['accepted'])
  await world.setFeed(beta, 'GEO', 0.5)
  expect((await outcomeOf({ api }, swapId)).status).toBe('settled')
})
