import { geoAccountRuntime, geoEscrowRuntime } from '@geoswap/protocol'
import { concat, type Hex, pad, slice } from 'viem'
import { expect, test } from 'vitest'
import { addressOf } from '../test/evm-offer.ts'
import type { KnownContracts } from './checks/terms.ts'
import { families } from './families/registry.ts'
import { createPins, type PinStore } from './pins.ts'

const CHAIN = 31_337
const rpcUrls = { [CHAIN]: 'http://127.0.0.1:1' }
const found = { account: addressOf('c'), escrow: addressOf('e'), vault: addressOf('7') }
const withEscrow = ({ bytecode, immutables }: typeof geoAccountRuntime | typeof geoEscrowRuntime) =>
  (immutables as readonly number[]).reduce(
    (code: Hex, start) => concat([slice(code, 0, start), pad(found.escrow), slice(code, start + 32)]),
    bytecode,
  )
const codes: Record<string, Hex> = {
  [found.account]: withEscrow(geoAccountRuntime),
  [found.escrow]: withEscrow(geoEscrowRuntime),
}

function counted() {
  let reads = 0
  const connect = () => ({
    chainId: async () => CHAIN,
    async code(address: string) {
      reads += 1
      return codes[address]
    },
    account: async () => found.account,
    vault: async () => found.vault,
  })
  return { connect, reads: () => reads }
}

function keptIn(kept: Map<number, KnownContracts>): PinStore {
  return { get: (chainId) => kept.get(chainId), set: (chainId, pin) => void kept.set(chainId, pin) }
}

test('contracts are verified once, and the pin is stored for the next client', async () => {
  const { connect, reads } = counted()
  const kept = new Map<number, KnownContracts>()
  const pins = createPins({ contracts: {}, rpcUrls, store: keptIn(kept), connect })

  await pins.assertKnowable(CHAIN, families.evm)
  const first = await pins.origin(CHAIN, families.evm, { account: found.account })
  const again = await pins.origin(CHAIN, families.evm, { escrow: addressOf('2') })
  const next = createPins({ contracts: {}, rpcUrls: {}, store: keptIn(kept) })

  expect([first, again, await next.origin(CHAIN, families.evm, { account: addressOf('2') })]).toEqual([
    found,
    found,
    found,
  ])
  expect(reads()).toBe(2)
})

test('contracts named by the caller take precedence and are not read from a node', async () => {
  const own = { account: addressOf('3'), escrow: addressOf('4') }
  const { connect, reads } = counted()
  const pins = createPins({
    contracts: { [CHAIN]: own },
    rpcUrls,
    store: keptIn(new Map([[CHAIN, found]])),
    connect,
  })

  expect(await pins.origin(CHAIN, families.evm, { account: found.account })).toEqual({
    ...own,
    vault: found.vault,
  })
  expect(reads()).toBe(0)
})

test('the missing contract is read from the chain, starting from the one the caller names', async () => {
  const { connect } = counted()
  const pins = createPins({ contracts: { [CHAIN]: { escrow: found.escrow } }, rpcUrls, connect })

  expect(await pins.origin(CHAIN, families.evm, {})).toEqual(found)
})

test.each([
  ['evm', {}, 'rpcUrls: { 31337: URL }'],
  ['evm', { account: found.account }, 'contracts: { 31337: { account, escrow } }'],
  ['solana', {}, 'contracts: { 31337: { escrow, vault, attester } }'],
] as const)(
  'UNPINNED names the missing option if there is neither a pin nor a node (%s)',
  async (family, own, advice) => {
    const pins = createPins({ contracts: { [CHAIN]: own }, rpcUrls: {} })

    const refused = { code: 'UNPINNED', message: expect.stringContaining(advice) }
    await expect(pins.assertKnowable(CHAIN, families[family])).rejects.toMatchObject(refused)
    await expect(pins.origin(CHAIN, families[family], found)).rejects.toMatchObject(refused)
  },
)

test('a node does not help on Solana: no code proves the owner of an address', async () => {
  const pins = createPins({ contracts: {}, rpcUrls })

  await expect(pins.assertKnowable(CHAIN, families.solana)).rejects.toMatchObject({ code: 'UNPINNED' })
})

test('a node that does not answer is UNPINNED, and nothing is stored', async () => {
  const kept = new Map<number, KnownContracts>()
  const connect = () => ({ ...counted().connect(), chainId: () => Promise.reject(new Error('silent')) })
  const pins = createPins({ contracts: {}, rpcUrls, store: keptIn(kept), connect })

  const refusal = pins.origin(CHAIN, families.evm, { account: found.account })

  await expect(refusal).rejects.toMatchObject({ code: 'UNPINNED', cause: { message: 'silent' } })
  expect(kept.size).toBe(0)
})
