import { type RunningChain, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmClient } from './client.ts'
import { wouldSucceed } from './simulate.ts'

const RELAYER: Address = '0x00000000000000000000000000000000000000fe'
const HOSTILE: Address = '0x00000000000000000000000000000000000000fd'
const terms = { maxFeePerGas: '20000000000', maxPriorityFeePerGas: '1000000000' }
const request = { to: HOSTILE, data: '0x', gas: 400_000 }

let chain: RunningChain
beforeAll(async () => {
  chain = await startChain({ name: 'simulate', chainId: 31_337, blockMs: 60_000 })
})
afterAll(() => chain?.stop())

/** Whether code that succeeds only under a condition does so as the relayer sends it. */
async function passes(condition: string): Promise<boolean> {
  const client = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  // CONDITION PUSH1 target JUMPI PUSH0 PUSH0 REVERT JUMPDEST STOP
  const target = (condition.length / 2 + 6).toString(16).padStart(2, '0')
  const bytecode: Hex = `0x${condition}60${target}575f5ffd5b00`
  await client.setBalance({ address: RELAYER, value: 10n ** 20n })
  await client.setCode({ address: HOSTILE, bytecode })
  return wouldSucceed(createEvmClient({ urls: [chain.rpcUrl] }), request, { sender: RELAYER, terms })
}

test.each([
  ['without a gas price', '3a15'],
  ['from nobody', '3215'],
  ['with much more gas than a lock has', '5a6207a12010'],
])('code that accepts only calls %s is seen to refuse', async (_, condition) => {
  expect(await passes(condition)).toBe(false)
})

test('code that accepts what the relayer sends passes', async () => {
  // The sender of the transaction is the relayer.
  expect(await passes('3260fe14')).toBe(true)
})
