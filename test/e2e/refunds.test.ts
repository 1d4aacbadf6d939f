import { geoEscrowAbi, geoVaultAbi } from '@geoswap/protocol'
import { encodeFunctionData, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, inject, test } from 'vitest'
import { createWorld, hurryToEnd, outcomeOf, prepare, stageOf, submitPrepared, submitSwap } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta } = world

const USDC = 1_000_000n
const input = { from: alpha, sell: 'USDC', to: beta, amount: 10n * USDC }

// Bytecode of a contract that refuses every payment: PUSH1 0 PUSH1 0 REVERT.
const REFUSES = '0x60006000fd'

afterEach(async () => {
  await Promise.all([alpha.resume(), beta.resume()])
})

/** Submits while the origin chain is halted, so that the test can change the state before the lock lands. */
async function submitUnmined(order: Parameters<typeof submitSwap>[2]) {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const prepared = await prepare(world, wallet, order)
  await order.from.halt()
  const { swapId } = await submitPrepared(world, prepared)
  await stageOf(world, swapId, 'locking')
  await alpha.untilPending()
  return { wallet, swapId }
}

/** The treasury withdraws native coin from the vault on beta, since anything else would be unexplained. */
async function withdraw(amount: bigint): Promise<void> {
  const { vault: address } = beta.contracts
  const owner = await beta.client.readContract({ address, abi: geoVaultAbi, functionName: 'TREASURY' })
  const args = [zeroAddress, owner, amount] as const
  const data = encodeFunctionData({ abi: geoVaultAbi, functionName: 'withdraw', args })
  await beta.as(owner, { to: address, data })
  await beta.mine()
}

test('a price that moves beyond the slippage limit after the lock causes a refund', async () => {
  const { wallet, swapId } = await submitUnmined({ ...input, buy: 'ETH' })

  await world.movePrice(beta, 'ETH', 2_900)
  await alpha.resume()
  const outcome = await outcomeOf(world, swapId)
  await world.setPrice('ETH', 2_500)

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'PRICE_MOVED', amount: '10000000' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
})

test('an inventory that is gone when the lock has landed causes a refund', async () => {
  const { wallet, swapId } = await submitUnmined({ ...input, buy: 'ETH' })
  const held = await beta.balanceOf(beta.contracts.vault, 'ETH')

  await withdraw(held)
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)
  await beta.client.setBalance({ address: beta.contracts.vault, value: held })

  expect(outcome).toMatchObject({
    status: 'refunded',
    refund: { reason: 'NO_LIQUIDITY', amount: '10000000' },
  })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
})

test('a recipient that refuses the output causes a refund', async () => {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const { wallet, swapId } = await submitUnmined({ ...input, buy: 'ETH', recipient })

  await beta.client.setCode({ address: recipient, bytecode: REFUSES })
  await alpha.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'RECIPIENT_INVALID' } })
  expect(outcome.refund?.txHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
})

test('a destination that is halted past the fill deadline causes a refund', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await beta.halt()
  const { swapId, build } = await submitSwap(world, wallet, { ...input, buy: 'WETH' })
  const { delivery } = build.operation.message as { delivery: { fillDeadline: string } }
  await stageOf(world, swapId, 'delivering')
  await beta.untilPending()

  const { timestamp } = await beta.client.getBlock()
  await beta.advance(Number(delivery.fillDeadline) - Number(timestamp) + 1)
  await beta.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'DELIVERY_EXPIRED' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(0n)
})

test('a destination that resumes with past timestamps pays nothing that could not be claimed in time', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await beta.halt()
  const { swapId, build } = await submitSwap(world, wallet, { ...input, buy: 'WETH' })
  const { refundDeadline } = build.operation.message as { refundDeadline: string }
  await stageOf(world, swapId, 'delivering')
  await beta.untilPending()

  const { timestamp } = await alpha.client.getBlock()
  await alpha.advance(Number(refundDeadline) - Number(timestamp) - 60)
  await beta.untilPending(zeroAddress)
  await beta.resume()
  const outcome = await hurryToEnd(world, swapId)

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'DELIVERY_EXPIRED' } })
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(100n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(0n)
})

test('a swap still settles after the chains’ clocks have drifted apart', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  await beta.advance(1_000)

  const { swapId } = await submitSwap(world, wallet, { ...input, buy: 'WETH' })

  expect((await outcomeOf(world, swapId)).status).toBe('settled')
})

test('a refund that the token refuses is credited to the wallet alone', async () => {
  const { wallet, swapId } = await submitUnmined({ ...input, buy: 'ETH' })
  const token = alpha.token('USDC')
  const code = await alpha.codeOf(token)
  const held = await beta.balanceOf(beta.contracts.vault, 'ETH')
  await withdraw(held)
  await alpha.resume()
  await stageOf(world, swapId, 'locked')

  await alpha.client.setCode({ address: token, bytecode: REFUSES })
  const outcome = await hurryToEnd(world, swapId)
  await alpha.client.setCode({ address: token, bytecode: code })
  await beta.client.setBalance({ address: beta.contracts.vault, value: held })

  expect(outcome).toMatchObject({ status: 'refunded', refund: { reason: 'NO_LIQUIDITY', credited: true } })
  const before = await alpha.balanceOf(wallet.address, 'USDC')
  const args = [token, wallet.address] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'withdraw', args })
  await alpha.as(wallet.address, { to: alpha.contracts.escrow, data })
  await alpha.mine()
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(before + 10n * USDC)
})
