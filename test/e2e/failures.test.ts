import { encodeFunctionData, erc20Abi } from 'viem'
import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, hurryToEnd, outcomeOf, stageOf, submitSwap } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta, api } = world

const USDC = 1_000_000n
const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC }
const STRANGER = '0x0000000000000000000000000000000000000011'

afterEach(() => alpha.resume())

test('a wallet that empties itself before the lock ends failed, with nothing taken', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await outcomeOf(world, (await submitSwap(world, wallet, order)).swapId)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()

  const args = [STRANGER, 85n * USDC] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await alpha.as(wallet.address, { to: alpha.token('USDC'), data })
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INPUT_UNAVAILABLE' } })
  expect(outcome.originTxHash).toBeUndefined()
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(5n * USDC)
})

test('a wallet whose nonce changes before the lock ends failed with a stale authorization', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()

  await alpha.as(wallet.address, { to: STRANGER })
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INVALID_AUTHORIZATION' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
  expect(await alpha.codeOf(wallet.address)).toBe('0x')
})

test('a foreign delegation that lands between submission and lock stays, and the swap ends failed', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()

  const authorization = { chainId: alpha.chainId, contractAddress: STRANGER, nonce: 0 } as const
  await alpha.sendAuthorization(await wallet.signAuthorization(authorization))
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'INVALID_AUTHORIZATION' } })
  expect(await alpha.codeOf(wallet.address)).toBe(`0xef0100${STRANGER.slice(2)}`)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
})

test('an operation that no block includes before its deadline ends failed', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const { swapId } = await submitSwap(world, wallet, order)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()

  await alpha.advance(300)
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'OPERATION_EXPIRED' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
})

test('a repeated submission returns its failed swap, and a new quote starts a new swap', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await alpha.halt()
  const first = await submitSwap(world, wallet, order)
  await stageOf(world, first.swapId, 'locking')
  await alpha.as(wallet.address, { to: STRANGER })
  await alpha.resume()
  await hurryToEnd(world, first.swapId)

  const again = await api.submit(first.submission)
  const second = await submitSwap(world, wallet, order)

  expect(again.body).toEqual({ swapId: first.swapId, status: 'failed' })
  expect((await outcomeOf(world, second.swapId)).status).toBe('settled')
})
