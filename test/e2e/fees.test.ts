import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, outcomeOf, stageOf, submitSwap } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world

const USDC = 1_000_000n
const GWEI = 1_000_000_000n

afterEach(async () => {
  await alpha.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI / 100n })
  await alpha.mine()
  await alpha.resume()
})

test('a lock that a jump of the base fee leaves behind is replaced at a higher fee, and the swap settles', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const { quote, swapId } = await submitSwap(world, wallet, {
    ...{ from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC },
  })
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()

  await alpha.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 5n * GWEI })
  await alpha.mine()
  expect((await world.api.status(swapId, 0)).body.substatus).toBe('locking')
  await alpha.resume()
  const outcome = await outcomeOf(world, swapId)

  expect(outcome.status).toBe('settled')
  const lock = await alpha.client.getTransaction({ hash: outcome.originTxHash as `0x${string}` })
  expect(lock.maxFeePerGas).toBeGreaterThan(GWEI)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
})
