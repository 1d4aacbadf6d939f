import { stub } from '@geoswap/protocol/test/stub'
import type { ChainEntry, ChainsReply } from '@geoswap/wire'
import { expect, test } from 'vitest'
import type { Family } from '../src/families/family.ts'
import { families, familyOf, withKnownFamilies } from '../src/families/registry.ts'

/** A family on paper: it has to compile against the object of a family, and no other file knows of it. */
const third: Family = {
  name: 'third',
  parseAddress: (text) => (text.startsWith('third1') ? text : undefined),
  isComplete: ({ escrow }) => escrow !== undefined,
  whatIsMissing: (chainId) => `Name the escrow of chain ${chainId}.`,
  isVerifiable: false,
  namedBy: () => ({}),
  choose: async ({ quote }) => ({ chosen: { method: 'delegation' }, quote, method: undefined }),
  createBuilder:
    ({ calls, signal }) =>
    (quote) =>
      calls.build(quote, { signal }),
  async sign(build, _signer, { terms, onSign }) {
    const life = { family: 'evm', chainId: terms.originChain, opDeadline: 0 } as const
    await onSign({ transaction: '' }, life)
    return { submission: { geoOpToken: build.geoOpToken, signedTransaction: '' }, life }
  },
  lockableUntil: () => 0,
  isLockable: async () => false,
}

test('a third family is one object with the members of the others', () => {
  for (const known of Object.values(families))
    expect(Object.keys(known).sort()).toEqual(Object.keys(third).sort())
})

test('an address is of the family that can read it, or of none', () => {
  expect(familyOf(`0x${'a'.repeat(40)}`)?.name).toBe('evm')
  expect(familyOf('So11111111111111111111111111111111111111112')?.name).toBe('solana')
  expect(familyOf('third1')).toBeUndefined()
})

test('a chain of a family that this version does not know is left out', () => {
  const [alpha, third] = [{ family: 'evm' }, { family: 'third' }].map((chain) => stub<ChainEntry>(chain))

  expect(withKnownFamilies({ chains: [alpha, third, null] } as ChainsReply)).toEqual({ chains: [alpha] })
  for (const lie of [undefined, null, { chains: 1 }]) expect(withKnownFamilies(lie as never)).toEqual(lie)
})
