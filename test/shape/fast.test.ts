import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { patience } from '../patience.ts'
import {
  createWorld,
  type Order,
  outcomeOf,
  prepare,
  quoteOnceSettled,
  submitPrepared,
  toRequest,
  until,
} from '../world.ts'
import { createControls } from './controls.ts'

const local = inject('local')
const world = createWorld(local)
const { api } = world
const controls = createControls(local)
const database = new pg.Pool({ connectionString: inject('databaseUrl'), max: 2 })
const AMOUNT = 50_000_000_000n
const base = world.chainNamed('base')
const arbitrum = world.chainNamed('arbitrum')
const FULL = 10_000_000_000

beforeAll(async () => {
  // The contracts are then older than the final blocks.
  await controls.advanceAll(45 * 60)
})
afterAll(() => database.end())

const order: Order = {
  from: base,
  sell: 'USDC',
  to: arbitrum,
  buy: 'USDC',
  amount: AMOUNT,
  maxEtaSeconds: 60,
}

test('50,000 USDC from Base settle within ten seconds in the fast way, for its premium', async () => {
  const wallet = await world.walletWith(base, 'USDC', AMOUNT)
  const { maxEtaSeconds: _, ...unhurried } = order
  const final = await quoteOnceSettled(api, toRequest(wallet, unhurried))

  const prepared = await prepare(world, wallet, order)
  const startedAt = performance.now()
  const { swapId } = await submitPrepared(world, prepared)
  const outcome = await outcomeOf(world, swapId)
  const tookMs = performance.now() - startedAt

  expect(final).toMatchObject({ speed: 'final', speeds: [{ speed: 'final' }, { speed: 'fast' }] })
  expect(final.etaSeconds).toBeGreaterThan(2_000)
  expect(prepared.quote).toMatchObject({ speed: 'fast' })
  expect(prepared.quote.etaSeconds).toBeLessThanOrEqual(10)
  expect(outcome).toMatchObject({
    ...{ status: 'settled', speed: 'fast' },
    amounts: { delivered: prepared.quote.output, riskPremium: { amount: '5000000', returned: false } },
  })
  expect(tookMs).toBeLessThan(10_000 * patience)
})

test('a fast swap that finds no room waits until its input is final, and gets its premium back', async () => {
  const wallet = await world.walletWith(base, 'USDC', AMOUNT)
  const prepared = await prepare(world, wallet, order)
  await database.query('update exposure set cents = cents + $2 where chain_id = $1', [base.chainId, FULL])

  const { swapId } = await submitPrepared(world, prepared)
  const waiting = await until(async () => {
    const { body } = await api.status(swapId, 0)
    return body.waiting && body
  })
  await database.query('update exposure set cents = cents - $2 where chain_id = $1', [base.chainId, FULL])
  const settled = await until(async () => {
    await controls.advanceAll(10 * 60)
    const { body } = await api.status(swapId, 0)
    return body.status !== 'pending' && body
  }, 180_000)

  const full = BigInt(prepared.quote.output) + 5_000_000n
  expect(waiting).toMatchObject({ status: 'pending', speed: 'final', waiting: { reason: 'finality' } })
  expect(BigInt(waiting.amounts.riskPremium?.output ?? 0)).toBeGreaterThan(full - 10_000n)
  expect(settled).toMatchObject({ status: 'settled', speed: 'final' })
  expect(settled.amounts).toMatchObject({
    delivered: waiting.amounts.riskPremium?.output,
    riskPremium: { amount: '5000000', returned: true },
  })
  expect(await arbitrum.balanceOf(wallet.address, 'USDC')).toBe(BigInt(settled.amounts.delivered ?? 0))
})
