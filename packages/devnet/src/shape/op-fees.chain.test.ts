import {
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseTransaction,
  serializeTransaction,
  size,
} from 'viem'
import { expect, test } from 'vitest'
import { sign, startTestChain } from '../../test/shape-chain.ts'
import { GAS_PRICE_ORACLE, GAS_PRICE_ORACLE_ABI } from './gas-price-oracle.ts'

type ReceiptJson = { gasUsed: string; effectiveGasPrice: string; l1Fee: string; status: string }

const chain = await startTestChain('base')
const price = chain.shape.l1WeiPerByte

async function oracle(functionName: 'getL1Fee' | 'getL1FeeUpperBound', arg: Hex | bigint): Promise<bigint> {
  const data = encodeFunctionData({ abi: GAS_PRICE_ORACLE_ABI, functionName, args: [arg] } as never)
  const answer = await chain.ask<Hex>('eth_call', { to: GAS_PRICE_ORACLE, data }, 'latest')
  return decodeFunctionResult({ abi: GAS_PRICE_ORACLE_ABI, functionName, data: answer })
}

/** The same transaction without its signature. */
function unsigned(raw: Hex): Hex {
  const { r: _r, s: _s, v: _v, yParity: _yParity, ...fields } = parseTransaction(raw)
  return serializeTransaction(fields as Parameters<typeof serializeTransaction>[0])
}

test('the oracle prices the bytes of a transaction', async () => {
  expect(await oracle('getL1Fee', `0x${'11'.repeat(300)}`)).toBe(368n * price)
  expect(await oracle('getL1Fee', '0x')).toBe(100n * price)
  expect(await oracle('getL1FeeUpperBound', 510n)).toBe((510n + 2n + 84n) * price)
})

test('a sender pays the L1 fee on top of its gas, at most what the oracle returned', async () => {
  const sender = await chain.wallet()
  const before = await chain.balanceOf(sender.address)
  const raw = await sign(sender, { data: `0x${'ab'.repeat(200)}` })
  const told = await oracle('getL1Fee', unsigned(raw))

  const hash = await chain.ask<Hex>('eth_sendRawTransaction', raw)
  await chain.mine()

  const receipt = await chain.ask<ReceiptJson>('eth_getTransactionReceipt', hash)
  const l1Fee = BigInt(receipt.l1Fee)
  const paid = before - (await chain.balanceOf(sender.address))
  expect(l1Fee).toBe(BigInt(size(raw)) * price)
  expect(l1Fee).toBeLessThanOrEqual(told)
  expect(paid).toBe(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + l1Fee)
})

test('a sender that can pay gas and value but not the L1 fee is refused', async () => {
  const fee = 20n * 10n ** 9n
  const sender = await chain.wallet(21_000n * fee + 7n)

  await expect(chain.send(sender, { gas: 21_000n, value: 7n })).rejects.toThrow(
    '-32000 insufficient funds for gas * price + value: balance',
  )

  await chain.ask(
    'hardhat_setBalance',
    sender.address,
    `0x${(21_000n * fee + 7n + 200n * price).toString(16)}`,
  )
  expect(await chain.send(sender, { gas: 21_000n, value: 7n })).toMatch(/^0x/)
  await chain.mine()
})

test("a spike multiplies the oracle's price and the charge by ten", async () => {
  const sender = await chain.wallet()
  await chain.ask('shape_setL1PriceFactor', 10)

  const raw = await sign(sender)
  const hash = await chain.ask<Hex>('eth_sendRawTransaction', raw)
  await chain.mine()

  const receipt = await chain.ask<ReceiptJson>('eth_getTransactionReceipt', hash)
  expect(await oracle('getL1Fee', '0x')).toBe(1_000n * price)
  expect(BigInt(receipt.l1Fee)).toBe(BigInt(size(raw)) * price * 10n)
  await chain.ask('shape_setL1PriceFactor', 1)
})

test('an automined block charges the L1 fee too', async () => {
  const sender = await chain.wallet()
  await chain.ask('evm_setAutomine', true)

  const hash = await chain.send(sender)
  const receipt = await chain.ask<ReceiptJson>('eth_getTransactionReceipt', hash)
  await chain.ask('evm_setAutomine', false)

  const paid = 10n ** 18n - (await chain.balanceOf(sender.address))
  expect(paid).toBe(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee))
  expect(await chain.ask('eth_getTransactionReceipt', await chain.send(sender, { nonce: 1 }))).toBe(null)
})

test('the base fee of a chain without transactions stays at its minimum', async () => {
  await chain.ask('shape_advance', 200)

  const { baseFeePerGas } = await chain.ask<{ baseFeePerGas: string }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  )

  expect(BigInt(baseFeePerGas)).toBe(chain.shape.baseFeeWei)
})
