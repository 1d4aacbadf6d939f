import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentKit, customActionProvider, WalletProvider } from '@coinbase/agentkit'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { z } from 'zod'
import { toAgentkitProvider } from '../../packages/agent/src/agentkit.ts'
import { type Agent, openAgent } from '../../packages/agent/src/index.ts'
import { createCliHome } from '../cli.ts'

const cli = createCliHome(inject('local'))
const home = mkdtempSync(join(tmpdir(), 'geoswap-agentkit-'))
let agent: Agent
beforeAll(async () => {
  tellNobody()
  const limits = { maxSwapUsd: '50', waitSeconds: '60' }
  agent = await openAgent({ home, networkHome: cli.env.GEOSWAP_HOME, limits })
})
afterAll(() => {
  cli.remove()
  rmSync(home, { recursive: true })
  vi.restoreAllMocks()
})

/** AgentKit tells its maker of each action, and ends a process that has no way to the internet. */
function tellNobody(): void {
  const real = globalThis.fetch
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) =>
    new URL(input instanceof Request ? input.url : input).hostname.endsWith('.coinbase.com')
      ? new Response()
      : real(input, init),
  )
}

/** AgentKit demands a wallet of its own, which no action takes. */
class NoWallet extends WalletProvider {
  getAddress = () => ''
  getNetwork = () => ({ protocolFamily: 'evm' })
  getName = () => 'none'
  getBalance = () => expect.unreachable()
  nativeTransfer = () => expect.unreachable()
}

test('actions of AgentKit swap within a limit and refuse above it, with schemas of its zod', async () => {
  const provider = toAgentkitProvider(agent, { customActionProvider, z })
  const kit = await AgentKit.from({ walletProvider: new NoWallet(), actionProviders: [provider] })
  const actions = kit.getActions()
  const execute = actions.find(({ name }) => name.endsWith('_execute_swap'))
  const swap = async (given: object) => JSON.parse((await execute?.invoke(given)) ?? '')
  const order = { from: 'alpha:USDC', to: 'beta:USDC' }

  expect(actions).toHaveLength(agent.tools.length)
  expect(await swap({ ...order, amount: '10' })).toMatchObject({ outcome: 'settled' })
  expect(await swap({ ...order, amount: '51' })).toMatchObject({ error: { code: 'SWAP_CAP' } })
  expect(await swap({ ...order, amount: '10', recipent: '0x' })).toMatchObject({ error: { code: 'USAGE' } })
  expect(execute?.schema.safeParse({ ...order, slippageBps: 'much' }).success).toBe(false)
  expect(execute?.schema.safeParse({ from: 'alpha:USDC' }).success).toBe(false)
})
