import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, stageOf, submitSwap, until, type WorldChain } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world

const USDC = 1_000_000n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC }

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

/** Reverts to the snapshot, as a reorg to an empty branch would, and continues from there. */
async function reorg(chain: WorldChain, snapshot: `0x${string}`): Promise<void> {
  await chain.client.revert({ id: snapshot })
  await chain.mine()
  await chain.resume()
}

test('a lock reverted by a two-block reorg is locked again, delivered once and claimed once', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const snapshot = await alpha.client.snapshot()
  const { quote, build, swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()
  await alpha.mine()
  await stageOf(world, swapId, 'locked')
  await alpha.mine()

  await reorg(alpha, snapshot)
  const outcome = await outcomeOf(world, swapId)

  expect(outcome.status).toBe('settled')
  await until(async () => (await alpha.lockStateOf(build)) === 'claimed')
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
})

test('a delivery reverted by a two-block reorg after the swap was settled is delivered again, once', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await beta.halt()
  const snapshot = await beta.client.snapshot()
  const { quote, build, swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'delivering')
  await beta.untilPending()
  await beta.mine()
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  await beta.mine()

  await reorg(beta, snapshot)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(0n)
  await until(async () => (await beta.balanceOf(wallet.address, 'WETH')) > 0n)

  await until(async () => (await alpha.lockStateOf(build)) === 'claimed')
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
})
