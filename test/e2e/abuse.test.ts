import { expect, inject, test } from 'vitest'
import { createApiClient } from '../client.ts'
import { fuzz } from '../fuzz/fuzz.ts'
import { gatherGenuine } from '../fuzz/genuine.ts'
import type { OpenApi } from '../fuzz/requests.ts'
import { createOperator } from '../operator.ts'
import { patience } from '../patience.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, quoteOnceSettled, submitSwap, toRequest } from '../world.ts'

const local = inject('local')
const operator = createOperator(inject('databaseUrl'))
const USDC = 10n ** 6n
const REQUESTS = 1_500
const FLOODED_AT_ONCE = 50
const OTHERS = 10

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

test('no input causes a 5xx or reveals internals, and swaps continue', async () => {
  const apiKey = await operator.createKey()
  const world = createWorld({ ...local, apiKey })
  const wallet = await world.walletWith(world.alpha, 'USDC', 1_000n * USDC)
  const order = { from: world.alpha, sell: 'USDC', to: world.beta, buy: 'USDC', amount: 10n * USDC }
  const document = (await (await fetch(`${local.apiUrl}/openapi.json`)).json()) as OpenApi

  const report = await fuzz({
    ...{ apiUrl: local.apiUrl, apiKey, document },
    genuine: await gatherGenuine(world, await createSolanaWorld(local), wallet),
    ...{ requests: REQUESTS, seed: 1 },
    secrets: [
      ...[inject('databaseUrl'), inject('apiDatabaseUrl'), apiKey],
      ...local.chains.map(({ rpcUrl }) => new URL(rpcUrl).host),
    ],
  })
  const { swapId } = await submitSwap(world, wallet, order)

  expect(report.faults).toEqual([])
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
})

test('a key that floods is told to wait, and another key is answered meanwhile', async () => {
  const { alpha, beta } = createWorld(local)
  const wallet = { address: alpha.contracts.escrow.replace(/^0x../, '0xcd').toLowerCase() }
  const request = toRequest(wallet, { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC })
  const loud = createApiClient({ ...local, apiKey: await operator.createKey({}) })
  const quiet = createApiClient({ ...local, apiKey: await operator.createKey() })
  await quoteOnceSettled(quiet, request)
  let isOver = false
  const statuses = new Set<number>()
  const flood = async () => {
    while (!isOver) statuses.add((await loud.quote(request)).status)
  }

  const flooding = Promise.all(Array.from({ length: FLOODED_AT_ONCE }, flood))
  const tookMs: number[] = []
  for (let asked = 0; asked < OTHERS; asked += 1) {
    const started = performance.now()
    expect((await quiet.quote(request)).status).toBe(200)
    tookMs.push(performance.now() - started)
  }
  isOver = true
  await flooding

  expect(statuses).toEqual(new Set([200, 429]))
  expect(medianOf(tookMs)).toBeLessThan(2_000 * patience)
})
