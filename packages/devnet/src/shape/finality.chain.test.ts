import { expect, test } from 'vitest'
import { startTestChain } from '../../test/shape-chain.ts'
import { type ChainTime, controlShape } from './control-methods.ts'

type Chain = Awaited<ReturnType<typeof startTestChain>>
type BlockJson = { number: string; timestamp: string; hash: string }

async function blockOf(chain: Chain, tag: string): Promise<{ number: number; timestamp: number }> {
  const { number, timestamp } = await chain.ask<BlockJson>('eth_getBlockByNumber', tag, false)
  return { number: Number(number), timestamp: Number(timestamp) }
}

const ethereum = await startTestChain('ethereum')
const base = await startTestChain('base')
const arbitrum = await startTestChain('arbitrum')

test.each([
  ['ethereum', ethereum, [384, 780], [768, 1_164]],
  ['base', base, [120, 362], [900, 1_202]],
  ['arbitrum', arbitrum, [400, 601], [900, 1_201]],
] as const)('%s starts with finality that lags by minutes', async (_name, chain, safe, finalized) => {
  const head = await blockOf(chain, 'latest')

  const lagOf = async (tag: string) => head.timestamp - (await blockOf(chain, tag)).timestamp

  expect(await lagOf('safe')).toBeGreaterThanOrEqual(safe[0])
  expect(await lagOf('safe')).toBeLessThanOrEqual(safe[1])
  expect(await lagOf('finalized')).toBeGreaterThanOrEqual(finalized[0])
  expect(await lagOf('finalized')).toBeLessThanOrEqual(finalized[1])
  expect(Math.abs(head.timestamp - Date.now() / 1_000)).toBeLessThan(60)
})

test('finality follows in epochs when the chain is advanced', async () => {
  const before = await blockOf(ethereum, 'finalized')

  const moved = await controlShape(ethereum.url, 'shape_advance', 384)

  const after = await blockOf(ethereum, 'finalized')
  expect(after.number - before.number).toBe(32)
  expect((await blockOf(ethereum, 'latest')).number).toBe(moved.blockNumber)
})

test('state is read at the block of a tag', async () => {
  const account = await base.wallet(5n)
  await base.mine()

  expect(BigInt(await base.ask('eth_getBalance', account.address, 'latest'))).toBe(5n)
  expect(BigInt(await base.ask('eth_getBalance', account.address, 'finalized'))).toBe(0n)
  await base.ask('shape_advance', 1_300)
  expect(BigInt(await base.ask('eth_getBalance', account.address, 'finalized'))).toBe(5n)
})

test('1,300 blocks of Base are two seconds apart and are made in seconds', async () => {
  const before = await blockOf(base, 'latest')

  const began = performance.now()
  const moved = await base.ask<ChainTime>('shape_advance', 2_600)
  const took = performance.now() - began

  expect(moved.blockNumber - before.number).toBe(1_300)
  expect(moved.timestamp - before.timestamp).toBe(2_600)
  const middle = await blockOf(base, `0x${(before.number + 650).toString(16)}`)
  expect(middle.timestamp - before.timestamp).toBe(1_300)
  expect(took).toBeLessThan(30_000)
})

test('four blocks of Arbitrum share a second, and a long jump makes at most 2,000 blocks', async () => {
  const before = await blockOf(arbitrum, 'latest')

  const second = await arbitrum.ask<ChainTime>('shape_advance', 10)
  const hour = await arbitrum.ask<ChainTime>('shape_advance', 3_600)

  expect(second.blockNumber - before.number).toBe(40)
  expect(second.timestamp - before.timestamp).toBe(10)
  expect(hour.blockNumber - second.blockNumber).toBe(2_000)
  expect(hour.timestamp - second.timestamp).toBe(3_600)
})

test('the clock of an advanced chain continues from there', async () => {
  const { timestamp } = await base.ask<ChainTime>('shape_advance', 600)

  await base.mine()

  const next = await blockOf(base, 'latest')
  expect(next.timestamp).toBeGreaterThanOrEqual(timestamp)
  expect(next.timestamp).toBeLessThan(timestamp + 10)
})

test('halted finality stays while heads advance, and catches up when it is resumed', async () => {
  await ethereum.ask('shape_haltFinality')
  const before = await blockOf(ethereum, 'finalized')

  await ethereum.ask('shape_advance', 1_200)
  const halted = await blockOf(ethereum, 'finalized')
  await ethereum.ask('shape_resumeFinality')
  const resumed = await blockOf(ethereum, 'finalized')

  expect(halted).toEqual(before)
  expect(resumed.timestamp - before.timestamp).toBeGreaterThanOrEqual(1_140)
})

test('a chain three times slower than its preset never moves finality back', async () => {
  const chain = await startTestChain('ethereum')
  const before = await blockOf(chain, 'finalized')

  await chain.ask('shape_setFinalityLag', 3)
  const slower = await blockOf(chain, 'finalized')
  await chain.ask('shape_advance', 1_920)
  const later = await blockOf(chain, 'finalized')

  expect(slower).toEqual(before)
  expect((await blockOf(chain, 'latest')).timestamp - later.timestamp).toBeGreaterThanOrEqual(3 * 768)
})

test('halted finality stays when the newest blocks are reverted', async () => {
  const chain = await startTestChain('ethereum')
  await chain.ask('shape_haltFinality')
  const before = await blockOf(chain, 'finalized')
  await chain.ask('shape_advance', 1_200)
  const snapshot = await chain.ask('evm_snapshot')
  await chain.mine()

  await chain.ask('evm_revert', snapshot)

  expect(await blockOf(chain, 'finalized')).toEqual(before)
})

test('a chain that is too young answers with block 0', async () => {
  const chain = await startTestChain('ethereum', { historySeconds: 600 })

  expect((await blockOf(chain, 'finalized')).number).toBe(0)
})

test('ranges of logs accept the tags too', async () => {
  expect(await ethereum.ask('eth_getLogs', { fromBlock: 'finalized', toBlock: 'latest' })).toEqual([])
})
