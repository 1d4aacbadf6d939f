import { type RunningChain, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmClients } from './client.ts'
import { createFlagReader } from './strange-reads.ts'

const CONTRACT: Address = '0x00000000000000000000000000000000000000f1'
const LISTED = '0x901bb9583b24D97e995513C6778dc6888AB6870e'
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let chain: RunningChain
beforeAll(async () => {
  chain = await startChain({ name: 'flags', chainId: 31_337, blockMs: 60_000 })
})
afterAll(() => chain?.stop())

async function read(bytecode: Hex, address: string, flag = 'isSanctioned'): Promise<boolean | undefined> {
  await createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) }).setCode({
    address: CONTRACT,
    bytecode,
  })
  return createFlagReader(createEvmClients({ urls: [chain.rpcUrl] }).agreed)(flag, CONTRACT, address)
}

/** Answers whether the argument of this function is the listed address, and reverts at any other function. */
const listOf = (selector: Hex): Hex =>
  `0x5f3560e01c63${selector.slice(2)}14601157${'5f5ffd'}${'5b'}73${LISTED.slice(2)}600435145f5260205ff3`

test.each([
  ['isSanctioned', '0xdf592f7d'],
  ['isBlacklisted', '0xfe575a87'],
  ['isBlackListed', '0xe47d6060'],
  ['getBlackListStatus', '0x59bf1abe'],
  ['isBlocked', '0xfbac3951'],
] as const)('%s is called as contracts have it, about this address', async (flag, selector) => {
  expect(toFunctionSelector(`${flag}(address)`)).toBe(selector)
  expect(await read(listOf(selector), LISTED, flag)).toBe(true)
  expect(await read(listOf(selector), OTHER, flag)).toBe(false)
})

test.each<[string, Hex]>([
  ['reverts', '0x5f5ffd'],
  ['runs an invalid instruction', '0xfe'],
  ['answers nothing', '0x00'],
  ['never returns', '0x5b5f56'],
  ['is gone', '0x'],
  ['answers two', '0x60025f5260205ff3'],
  ['answers a yes and more', '0x60015f5260405ff3'],
  ['answers a megabyte', '0x621000005ff3'],
  ['answers half a megabyte', '0x60015f526208000060005ff3'],
])('a contract that %s says nothing', async (_, bytecode) => {
  expect(await read(bytecode, LISTED)).toBeUndefined()
})
