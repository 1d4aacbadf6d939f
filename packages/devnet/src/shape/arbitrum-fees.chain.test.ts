import { decodeFunctionResult, encodeFunctionData, type Hex, keccak256, size } from 'viem'
import { expect, test } from 'vitest'
import { sign, startTestChain } from '../../test/shape-chain.ts'
import { NODE_INTERFACE, NODE_INTERFACE_ABI } from './node-interface.ts'

type ReceiptJson = {
  transactionHash: Hex
  gasUsed: string
  gasUsedForL1: string
  effectiveGasPrice: string
  status: string
  contractAddress: Hex | null
  logs: { transactionHash: Hex }[]
}

const chain = await startTestChain('arbitrum')
const { baseFeeWei, l1WeiPerByte } = chain.shape
const GAS_PER_BYTE = l1WeiPerByte / baseFeeWei

const receiptOf = (hash: Hex) => chain.ask<ReceiptJson>('eth_getTransactionReceipt', hash)

async function mined(raw: Hex): Promise<ReceiptJson> {
  const hash = await chain.ask<Hex>('eth_sendRawTransaction', raw)
  await chain.mine()
  return receiptOf(hash)
}

async function components(to: Hex, data: Hex) {
  const call = encodeFunctionData({
    abi: NODE_INTERFACE_ABI,
    functionName: 'gasEstimateComponents',
    args: [to, false, data],
  })
  const answer = await chain.ask<Hex>('eth_call', { to: NODE_INTERFACE, data: call }, 'latest')
  const [total, l1, baseFee] = decodeFunctionResult({
    abi: NODE_INTERFACE_ABI,
    functionName: 'gasEstimateComponents',
    data: answer,
  })
  return { total, l1, baseFee }
}

test('21,000 gas do not suffice for a plain transfer', async () => {
  const sender = await chain.wallet()

  await expect(chain.send(sender, { gas: 21_000n })).rejects.toThrow(
    '-32000 intrinsic gas too low: gas 21000',
  )
})

test("the node's estimate includes the L1 part, and a transaction with that limit succeeds", async () => {
  const sender = await chain.wallet()
  const estimate = BigInt(await chain.ask('eth_estimateGas', { from: sender.address, to: sender.address }))
  const { total, l1, baseFee } = await components(sender.address, '0x')

  const receipt = await mined(await sign(sender, { gas: estimate }))

  expect(total).toBe(estimate)
  expect(l1).toBeGreaterThan(0n)
  expect(baseFee).toBe(baseFeeWei)
  expect(receipt.status).toBe('0x1')
})

test('gas used includes the L1 part, the sender pays for all of it, and nothing for a tip', async () => {
  const sender = await chain.wallet()
  const before = await chain.balanceOf(sender.address)
  const raw = await sign(sender, { maxPriorityFeePerGas: 5n * 10n ** 9n })

  const receipt = await mined(raw)

  const l1Gas = BigInt(size(raw)) * GAS_PER_BYTE
  expect(BigInt(receipt.gasUsedForL1)).toBe(l1Gas)
  expect(BigInt(receipt.gasUsed)).toBe(21_000n + l1Gas)
  expect(BigInt(receipt.effectiveGasPrice)).toBe(baseFeeWei)
  expect(before - (await chain.balanceOf(sender.address))).toBe(BigInt(receipt.gasUsed) * baseFeeWei)
})

test('a transaction has the hash that its sender signed, in every reply', async () => {
  const sender = await chain.wallet()
  // Emits one log without topics.
  const raw = await sign(sender, { to: null, data: '0x5f5fa05f5ff3', gas: 200_000n })
  const hash = keccak256(raw)

  const receipt = await mined(raw)

  const block = await chain.ask<{ number: Hex; transactions: Hex[] }>('eth_getBlockByNumber', 'latest', false)
  const full = await chain.ask<{ transactions: Record<string, string>[] }>(
    'eth_getBlockByNumber',
    'latest',
    true,
  )
  const range = { fromBlock: block.number, toBlock: block.number }
  const logs = await chain.ask<{ transactionHash: Hex }[]>('eth_getLogs', range)
  const tx = await chain.ask<Record<string, string>>('eth_getTransactionByHash', hash)
  expect(receipt.transactionHash).toBe(hash)
  expect(receipt.logs[0]?.transactionHash).toBe(hash)
  expect(receipt.contractAddress).toMatch(/^0x/)
  expect(block.transactions).toEqual([hash])
  expect(logs.map(({ transactionHash }) => transactionHash)).toEqual([hash])
  expect(full.transactions[0]).toEqual(tx)
  expect(tx).toMatchObject({
    hash,
    gas: '0x30d40',
    maxPriorityFeePerGas: '0x3b9aca00',
    from: sender.address.toLowerCase(),
  })
})

test('a limit that covers the L1 part but not the execution runs out of gas on chain', async () => {
  const sender = await chain.wallet()
  // Jumps to its own start forever.
  const fields = { to: null, data: '0x5b5f56' as Hex }
  const l1Gas = BigInt(size(await sign(sender, fields))) * GAS_PER_BYTE

  const receipt = await mined(await sign(sender, { ...fields, gas: 60_000n + l1Gas }))

  expect(receipt.status).toBe('0x0')
  expect(BigInt(receipt.gasUsed)).toBe(60_000n + l1Gas)
})

test('a spike makes the L1 part ten times larger, so a limit that sufficed is refused', async () => {
  const sender = await chain.wallet()
  const raw = await sign(sender, { gas: 40_000n })
  const before = await components(sender.address, '0x')

  await chain.ask('shape_setL1PriceFactor', 10)
  const after = await components(sender.address, '0x')

  await expect(chain.ask('eth_sendRawTransaction', raw)).rejects.toThrow('intrinsic gas too low')
  expect(after.l1 / before.l1).toBeGreaterThanOrEqual(9n)
  await chain.ask('shape_setL1PriceFactor', 1)
  expect((await mined(raw)).status).toBe('0x1')
})

test('a delegation takes effect in the account that signed it', async () => {
  const sender = await chain.wallet()
  const wallet = await chain.wallet()
  const address = sender.address
  const authorization = await wallet.signAuthorization({ address, chainId: 31_337, nonce: 0 })

  const receipt = await mined(await sign(sender, { authorizationList: [authorization], gas: 200_000n }))

  expect(receipt.status).toBe('0x1')
  expect(await chain.ask('eth_getCode', wallet.address, 'latest')).toBe(
    `0xef0100${address.slice(2).toLowerCase()}`,
  )
})

test('a transaction below the base fee is refused', async () => {
  const sender = await chain.wallet()
  const low = baseFeeWei - 1n

  await expect(chain.send(sender, { maxFeePerGas: low, maxPriorityFeePerGas: 0n })).rejects.toThrow(
    'max fee per gas less than block base fee',
  )
})

test('a replacement removes the first transaction, which is then unknown', async () => {
  const sender = await chain.wallet()
  const gwei = 10n ** 9n
  const first = await chain.send(sender, { maxFeePerGas: gwei, maxPriorityFeePerGas: gwei })

  await expect(chain.send(sender, { maxFeePerGas: gwei + 1n, maxPriorityFeePerGas: gwei })).rejects.toThrow(
    'replacement transaction underpriced',
  )
  const receipt = await mined(
    await sign(sender, { maxFeePerGas: 2n * gwei, maxPriorityFeePerGas: 2n * gwei }),
  )

  expect(receipt.status).toBe('0x1')
  expect(await receiptOf(first)).toBe(null)
})

test('a legacy transaction keeps its type and price, and pays the base fee alone', async () => {
  const sender = await chain.wallet()
  const fields = {
    type: 'legacy',
    gasPrice: 10n ** 9n,
    maxFeePerGas: undefined,
    maxPriorityFeePerGas: undefined,
  }

  const receipt = await mined(await sign(sender, fields))

  expect(receipt).toMatchObject({ status: '0x1', type: '0x0' })
  expect(BigInt(receipt.effectiveGasPrice)).toBe(baseFeeWei)
})
