import { fromCallbacks } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import type { WalletFamily } from './family.ts'
import { families, parseAnyAddress, readAnyInput } from './registry.ts'

const NOTHING = async () => 0n

/** A family on paper: it has to compile against the object of a family, and no other file knows of it. */
const third: WalletFamily = {
  // The names are those of the wire; a real one is added there first.
  name: 'evm',
  coin: { name: 'coin', decimals: 8 },
  parseAddress: (text) => (text.startsWith('third1') ? text : undefined),
  parseKey: async (text) => (text.startsWith('secret1') ? new Uint8Array(32) : undefined),
  formatKey: async () => 'secret1',
  signer: async () => fromCallbacks({ family: 'evm', address: 'third1', signHash: async () => '0x' }),
  createReads: () => ({ balanceOf: NOTHING, decimalsOf: async () => 8, symbolOf: async () => undefined }),
  readInput: () => ({
    ...{ family: 'evm', chainId: 1, hash: '', wallet: '', token: '', amount: 1n, refundDeadline: 0n },
    read: async () => ({ state: 'locked', now: 1n }),
    readGas: async () => ({ needed: 0n, held: 0n }),
    refund: async () => ({ txHash: '', state: 'refunded', credited: false }),
  }),
}

test('a third family is one object, and the registry alone names the others', () => {
  expect(Object.keys(third).sort()).toEqual(Object.keys(families.evm).sort())
  expect(Object.keys(families.solana).sort()).toEqual(Object.keys(families.evm).sort())
})

test('a text is an address of the family that can read it, or of none', () => {
  const mint = 'So11111111111111111111111111111111111111112'

  expect(parseAnyAddress(`0x${'A'.repeat(40)}`)).toBe(parseAnyAddress(`0x${'a'.repeat(40)}`))
  expect(parseAnyAddress(mint)).toBe(mint)
  expect(parseAnyAddress('third1')).toBeUndefined()
})

test('an operation of no family has no input', () => {
  expect([undefined, 'text', {}].map(readAnyInput)).toEqual([undefined, undefined, undefined])
})
