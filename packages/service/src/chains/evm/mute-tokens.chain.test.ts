import { type RunningChain, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stub } from '../../../test/support/stub.ts'
import { createEvmClients } from './client.ts'
import { readBalance, readHoldings } from './reads.ts'
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
  ['never returns', '0x5b5f56'],
  ['is gone', '0x'],
])('a token that %s holds nothing, and hides no other', async (_, bytecode) => {
  const test = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  const { client, gathered } = createEvmClients({ urls: [chain.rpcUrl] })
  // The limit is all ones, and nothing was spent.
  await test.setCode({ address: VAULT, bytecode: '0x5f195f5260405ff3' })
  await test.setCode({ address: TOKEN, bytecode: SEVEN })
  await test.setCode({ address: MUTE, bytecode })
  const settings = stub<EvmChainSettings>({ vault: VAULT, tokens: [MUTE, TOKEN] })
  const { number } = await client.getBlock()

  for (const asked of [client, gathered.client])
    expect(await readHoldings(asked, settings, { number } as never)).toEqual([
      { token: MUTE, amount: 0n },
      { token: TOKEN, amount: 7n },
    ])
})

test('a token gets a million gas for an answer, and cannot lengthen the one that others share', async () => {
  const test = createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) })
  const { client, gathered } = createEvmClients({ urls: [chain.rpcUrl] })
  // Returns the gas that it has, and 48 KiB of nothing.
  await test.setCode({ address: MUTE, bytecode: '0x5a5f5261c0005ff3' })
  const balance = (asked: typeof client) => readBalance(asked, { owner: VAULT, token: MUTE })

  const left = [await balance(client), ...(await Promise.all([1, 2].map(() => balance(gathered.client))))]

  for (const gas of left) {
    expect(gas).toBeGreaterThan(900_000n)
    expect(gas).toBeLessThan(1_000_000n)
  }
})
