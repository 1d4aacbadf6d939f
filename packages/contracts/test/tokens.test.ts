import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { isolate } from './isolate.ts'
import { claim, createSwap, deliver, lock, readState, refundAttested } from './op.ts'
import { callTestContract, createWallet, createWorld, deployListed, readBalance } from './world.ts'

const world = await createWorld()
isolate(world)

async function createInput(token: Address, inputAmount = 100n) {
  return createSwap(world, await createWallet(world, token), { inputToken: token, inputAmount })
}

test.each(['TestToken', 'NoReturnToken', 'HookToken', 'PlainFalse', 'PlainBlock', 'PlainGas'])(
  '%s is transferred in and out exactly',
  async (name) => {
    const names: Record<string, string> = {
      PlainFalse: 'FalseToken',
      PlainBlock: 'BlockToken',
      PlainGas: 'GasToken',
    }
    const token = name === 'TestToken' ? world.token : await deployListed(world, names[name] ?? name)
    const inventory = await readBalance(world, token, world.vault)
    const swap = await createInput(token)

    await lock(world, swap)
    expect(await readBalance(world, token, world.escrow)).toBe(100n)
    await claim(world, swap)

    expect(await readBalance(world, token, world.escrow)).toBe(0n)
    expect(await readBalance(world, token, world.vault)).toBe(inventory + 100n)
  },
)

test('a token that takes a fee cannot be locked', async () => {
  const swap = await createInput(await deployListed(world, 'FeeToken'))

  await expect(lock(world, swap)).rejects.toThrow('WrongAmount')
  expect(await readBalance(world, swap.op.inputToken, swap.op.wallet)).toBe(1_000n)
})

test('a token that returns true and moves nothing cannot be locked', async () => {
  await expect(lock(world, await createInput(await deployListed(world, 'LyingToken')))).rejects.toThrow(
    'WrongAmount',
  )
})

test('a token that returns false cannot be locked', async () => {
  const token = await deployListed(world, 'FalseToken')
  const swap = await createInput(token)
  await callTestContract(world, { name: 'FalseToken', to: token, functionName: 'setRefuses', args: [true] })

  await expect(lock(world, swap)).rejects.toThrow()
  expect(await readState(world, swap)).toBe('NONE')
})

test('a token that moves the whole balance for the largest number cannot be locked for it', async () => {
  const swap = await createInput(await deployListed(world, 'WholeBalanceToken'), 2n ** 256n - 1n)

  await expect(lock(world, swap)).rejects.toThrow('WrongAmount')
})

test('an address without code is not a token', async () => {
  const wallet = await createWallet(world)
  const swap = await createSwap(world, wallet, { inputToken: `0x${'99'.repeat(20)}` })

  await expect(lock(world, swap)).rejects.toThrow('BadBalance')
})

test('a wallet that names itself as the token locks nothing', async () => {
  const wallet = await createWallet(world)

  await expect(lock(world, await createSwap(world, wallet, { inputToken: wallet.address }))).rejects.toThrow(
    'BadBalance',
  )
})

test('a paused or blocking token cannot be locked, and its op can be locked later', async () => {
  const token = await deployListed(world, 'BlockToken')
  const swap = await createInput(token)
  await callTestContract(world, { name: 'BlockToken', to: token, functionName: 'setPaused', args: [true] })
  await expect(lock(world, swap)).rejects.toThrow()
  await callTestContract(world, { name: 'BlockToken', to: token, functionName: 'setPaused', args: [false] })

  await lock(world, swap)

  expect(await readState(world, swap)).toBe('LOCKED')
})

test('a token that refuses the recipient fails the delivery, which can be retried', async () => {
  const token = await deployListed(world, 'BlockToken')
  const swap = await createSwap(world, await createWallet(world), { outputToken: token })
  const setBlocked = (value: boolean) =>
    callTestContract(world, {
      name: 'BlockToken',
      to: token,
      functionName: 'setBlocked',
      args: [swap.fill.recipient, value],
    })
  await setBlocked(true)
  await expect(deliver(world, swap)).rejects.toThrow()
  await setBlocked(false)

  await deliver(world, swap)

  expect(await readBalance(world, token, swap.fill.recipient)).toBe(90n)
})

test('a token that returns nothing is delivered and refunded', async () => {
  const token = await deployListed(world, 'NoReturnToken')
  const input = await createInput(token)
  await lock(world, input)
  await refundAttested(world, input)
  expect(await readBalance(world, token, input.op.wallet)).toBe(1_000n)

  const output = await createSwap(world, await createWallet(world), { outputToken: token })
  await deliver(world, output)
  expect(await readBalance(world, token, output.fill.recipient)).toBe(90n)
})
