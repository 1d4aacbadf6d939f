import { type RunningChain, startChain } from '@geoswap/devnet'
import { type Address, createTestClient, type Hex, http, keccak256, type PublicClient, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmClient } from '../chains/evm/client.ts'
import { acceptsSignature } from './authorization.ts'

const WALLET: Address = '0x00000000000000000000000000000000000000fb'
const HASH = keccak256(toHex('op'))

let chain: RunningChain
let client: PublicClient
beforeAll(async () => {
  chain = await startChain({ name: 'wallets', chainId: 31_337, blockMs: 60_000 })
  client = createEvmClient({ urls: [chain.rpcUrl] })
})
afterAll(() => chain?.stop())

/** Whether a wallet with this code accepts a signature that begins with the hash. */
async function ask(bytecode: Hex): Promise<boolean> {
  await createTestClient({ mode: 'hardhat', transport: http(chain.rpcUrl) }).setCode({
    address: WALLET,
    bytecode,
  })
  return acceptsSignature(client, WALLET, HASH, `${HASH}00`)
}

// Returns the magic value if the signature begins with the hash.
const ACCEPTS = '0x60043560643514631626ba7e60e01b025f5260205ff3'

test('a wallet accepts a signature by its code', async () => {
  expect(await ask(ACCEPTS)).toBe(true)
})

test.each<[string, Hex]>([
  ['has no code', '0x'],
  ['answers nothing', '0x00'],
  ['answers four bytes', '0x631626ba7e60e01b5f5260045ff3'],
  ['answers another word', '0x60205ff3'],
  ['reverts', '0x5f5ffd'],
  [
    'reverts with a text about headers that are not found',
    '0x6e686561646572206e6f7420666f756e645f52600f6011fd',
  ],
  ['runs an invalid instruction', '0xfe'],
  ['burns all of its gas', '0x5b5f56'],
  ['answers with megabytes', '0x6244aa205ff3'],
  ['reverts with megabytes', '0x6244aa205ffd'],
  ['accepts with megabytes', '0x631626ba7e60e01b5f526244aa205ff3'],
])('a wallet that %s refuses, and is no fault of the node', async (_, bytecode) => {
  expect(await ask(bytecode)).toBe(false)
})
