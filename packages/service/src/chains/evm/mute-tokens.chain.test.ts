import { type RunningChain, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmClient } from './client.ts'
import { readHoldings } from './reads.ts'
import type { EvmChainSettings } from './settings.ts'

const VAULT: Address = '0x00000000000000000000000000000000000000a7'
const TOKEN: Address = '0x00000000000000000000000000000000000000c0'
const MUTE: Address = '0x00000000000000000000000000000000000000c1'
const SEVEN: Hex = '0x60075f5260205ff3'

let chain: RunningChain
beforeAll(async () => {
  chain = await startChain({ name: 'mute', chainId: 31_337, blockMs: 60_000 })
})
afterAll(() => chain?.stop())

test.each<[string, Hex]>([
  ['reverts', '0x5f5ffd'],
  ['runs an invalid instruction', '0xfe'],
  ['answers nothing', '0x00'],
  ['is gone', '0x'],
])('a token that %s holds nothing, and hides no other', async (_, bytecode) => {
  const test = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  const client = createEvmClient({ urls: [chain.rpcUrl] })
  // The limit is all ones, and nothing was spent.
  await test.setCode({ address: VAULT, bytecode: '0x5f195f5260405ff3' })
  await test.setCode({ address: TOKEN, bytecode: SEVEN })
  await test.setCode({ address: MUTE, bytecode })
  const settings = { vault: VAULT, tokens: [MUTE, TOKEN] } as unknown as EvmChainSettings
  const { number } = await client.getBlock()

  expect(await readHoldings(client, settings, { number } as never)).toEqual([
    { token: MUTE, amount: 0n },
    { token: TOKEN, amount: 7n },
  ])
})
