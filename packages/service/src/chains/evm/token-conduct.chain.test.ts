import { type RunningChain, startChain } from '@geoswap/devnet'
import {
  type Address,
  concat,
  createTestClient,
  type Hex,
  http,
  numberToHex,
  type PublicClient,
  pad,
  publicActions,
} from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmClient } from './client.ts'
import { findConductFault } from './tokens.ts'

const at = (digit: string): Address => `0x${digit.repeat(40)}`
const [token, vault, escrow, treasury] = [at('a'), at('b'), at('c'), at('d')] as const
const listed = { token, vault, escrow, treasury, isPlain: true }
// Answers every call with zeros.
const ZEROS: Hex = '0x6102005ff3'

let chain: RunningChain
let client: ReturnType<typeof connect>
let reader: PublicClient

const connect = (rpcUrl: string) =>
  createTestClient({ mode: 'hardhat', transport: http(rpcUrl), cacheTime: 0 }).extend(publicActions)

beforeAll(async () => {
  chain = await startChain({ name: 'conduct', chainId: 31_337, blockMs: 100 })
  client = connect(chain.rpcUrl)
  reader = createEvmClient({ urls: [chain.rpcUrl] })
})
afterAll(() => chain.stop())

/** `balanceOf` and `transfer` alone, with balances at the holders' own slots. */
function tokenOf({ charged = 0, kept = 0 }): Hex {
  const toByte = (value: number) => numberToHex(value, { size: 1 })
  return concat([
    // Jumps by the selector, or reverts.
    '0x5f3560e01c806370a0823114603f5763a9059cbb14601b575f5ffd',
    // transfer: the sender loses the amount and the charge,
    '0x5b60243560',
    toByte(charged),
    '0x013354033355',
    // and the recipient gets the amount without what is kept.
    '0x60243560',
    toByte(kept),
    '0x900360043554016004355560015f5260205ff3',
    // balanceOf
    '0x5b600435545f5260205ff3',
  ])
}

async function place(code: Hex, holder: Address): Promise<void> {
  await client.setCode({ address: token, bytecode: code })
  for (const each of [vault, treasury]) {
    const value = numberToHex(each === holder ? 100n : 0n, { size: 32 })
    await client.setStorageAt({ address: token, index: pad(each), value })
  }
}

test.each([
  ['the vault', vault],
  ['the treasury', treasury],
])('a token whose transfers from %s move exactly their amount has no fault', async (_, holder) => {
  await place(tokenOf({}), holder)

  expect(await findConductFault(reader, listed)).toBeUndefined()
})

test('a token that charges the sender, or is said to be plain and takes a fee, is named with the amounts', async () => {
  await place(tokenOf({ charged: 3 }), vault)
  expect(await findConductFault(reader, listed)).toBe('takes 53 from the sender of 50')

  await place(tokenOf({ kept: 2 }), treasury)
  expect(await findConductFault(reader, listed)).toBe('is not plain: it gives 48 to the recipient of 50')
  expect(await findConductFault(reader, { ...listed, isPlain: false })).toBeUndefined()
})

test('a token with functions of rebasing tokens is named', async () => {
  await place(ZEROS, vault)

  expect(await findConductFault(reader, listed)).toBe(
    'changes balances without transfers, as its function sharesOf shows',
  )
})

test('a token that nobody here holds has no fault yet', async () => {
  await place(tokenOf({ charged: 3 }), escrow)
  expect(await findConductFault(reader, listed)).toBeUndefined()
})
