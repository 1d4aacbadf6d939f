import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, prepare, stageOf, submitSwap, toRequest, until } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world

const USDC = 1_000_000n
const GWEI = 1_000_000_000n
const anyone = { address: '0x00000000000000000000000000000000000a11ce' }
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC }

afterEach(async () => {
  await alpha.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI / 100n })
  await alpha.mine()
  await alpha.resume()
  // Waits until the service has the new fees: a swap of a dollar is then worth its gas again.
  const dollar = toRequest(anyone, { ...order, amount: USDC })
  await until(async () => (await world.api.quote(dollar)).status === 200)
})

test('a lock outbid by a jump of the base fee is replaced at a higher fee, and the swap settles', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const { quote, swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  const { maxFeePerGas } = await alpha.untilPending()

  await alpha.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI })
  await alpha.mine()
  expect((await world.api.status(swapId, 0)).body.substatus).toBe('locking')
  await alpha.resume()
  const outcome = await outcomeOf(world, swapId)

  expect(outcome.status).toBe('settled')
  const lock = await alpha.client.getTransaction({ hash: outcome.originTxHash as `0x${string}` })
  expect(lock.maxFeePerGas).toBeGreaterThan(maxFeePerGas ?? GWEI)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
})

test('while gas costs far more than quoted the swap waits, and settles afterwards', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const { quote, submission } = await prepare(world, wallet, order)
  await alpha.halt()
  const mineAt = async (baseFeePerGas: bigint) => {
    await alpha.client.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await alpha.mine()
  }
  await mineAt(100n * GWEI)
  const { swapId } = (await world.api.submit(submission)).body
  for (let block = 0; block < 20; block += 1) {
    await mineAt(100n * GWEI)
    expect((await world.api.status(swapId, 0)).body.status).toBe('pending')
  }

  await mineAt(GWEI / 100n)
  await alpha.resume()
  const outcome = await outcomeOf(world, swapId)

  expect(outcome.status).toBe('settled')
  const lock = await alpha.client.getTransaction({ hash: outcome.originTxHash as `0x${string}` })
  expect(lock.maxFeePerGas).toBeLessThan(20n * GWEI)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
})
