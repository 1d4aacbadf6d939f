import { type RunningChain, startChain } from '@geoswap/devnet'
import {
  type Address,
  createPublicClient,
  createTestClient,
  custom,
  type Hex,
  http,
  RpcRequestError,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import { createEvmClient } from './client.ts'
import type { EvmChainSettings } from './settings.ts'
import { simulateDelivery, wouldSucceed } from './simulate.ts'

const RELAYER: Address = '0x00000000000000000000000000000000000000fe'
const HOSTILE: Address = '0x00000000000000000000000000000000000000fd'
const terms = { maxFeePerGas: '20000000000', maxPriorityFeePerGas: '1000000000' }
const request = { to: HOSTILE, data: '0x', gas: 400_000 }

let chain: RunningChain
beforeAll(async () => {
  chain = await startChain({ name: 'simulate', chainId: 31_337, blockMs: 60_000 })
})
afterAll(() => chain?.stop())

/** Code that reverts, except under a condition. */
function codeIf(condition: string): Hex {
  // CONDITION PUSH1 target JUMPI PUSH0 PUSH0 REVERT JUMPDEST STOP
  const target = (condition.length / 2 + 6).toString(16).padStart(2, '0')
  return `0x${condition}60${target}575f5ffd5b00`
}

/** Whether code that succeeds only under a condition does so as the relayer sends it. */
async function passes(condition: string): Promise<boolean> {
  const client = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  await client.setBalance({ address: RELAYER, value: 10n ** 20n })
  await client.setCode({ address: HOSTILE, bytecode: codeIf(condition) })
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

const vault = { vault: HOSTILE, deliverer: RELAYER, ringOf: () => `0x${'ab'.repeat(32)}` }
const settings = stub<EvmChainSettings & { deliverer: Address }>(vault)
const order = { outputToken: zeroAddress, quotedOutput: 1n, minOutput: 1n, recipient: RELAYER, position: 0n }
const op = stub<Op>({ ...order, round: 1n, fillDeadline: 9_000_000_000 })

/** The simulation of a delivery that fails, except under a condition. */
async function simulate(condition: string, priced?: typeof terms) {
  const client = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  await client.setBalance({ address: HOSTILE, value: 10n ** 18n })
  await client.setBalance({ address: RELAYER, value: 10n ** 20n })
  await client.setCode({ address: HOSTILE, bytecode: codeIf(condition) })
  const asked = createEvmClient({ urls: [chain.rpcUrl] })
  return (await simulateDelivery(asked, settings, op, priced)).kind
}

test('a delivery that succeeds only without a gas price is seen to fail as its key would send it', async () => {
  expect(await simulate('3a15')).toBe('ok')
  expect(await simulate('3a15', terms)).toBe('recipientRefuses')
  expect(await simulate('3a', terms)).toBe('ok')
})

test.each(['insufficient funds for gas', 'max fee per gas less than block base fee'])(
  'a node that refuses a key for its %s says nothing about the recipient',
  async (message) => {
    const request = async ({ params: [{ from }] }: { params: [{ from?: Address }] }) => {
      if (!from) return '0x01'
      throw new RpcRequestError({ body: {}, url: 'http://node', error: { code: -32_000, message } })
    }
    const node = createPublicClient({ transport: custom({ request } as never, { retryCount: 0 }) })

    expect(await simulateDelivery(node, settings, op, terms)).toEqual({ kind: 'notNow' })
  },
)
