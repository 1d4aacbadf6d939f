import { geoAccountRuntime, geoEscrowRuntime, type RuntimeCode } from '@geoswap/protocol'
import { type Address, concat, type Hex, pad, slice } from 'viem'
import { expect, test } from 'vitest'
import { addressOf } from '../../test/evm-offer.ts'
import { type CodeReads, type NamedContracts, verifyDeployment } from './deployment.ts'

const CHAIN = 31_337
const account = addressOf('c')
const escrow = addressOf('e')
const vault = addressOf('7')

/** The published code with its immutables set, as a constructor leaves it on a chain. */
function deployed({ bytecode, immutables }: RuntimeCode, valueAt: (place: number) => Hex): Hex {
  return immutables.reduce((code: Hex, start, place) => {
    return concat([slice(code, 0, start), pad(valueAt(place), { size: 32 }), slice(code, start + 32)])
  }, bytecode)
}

const honestCode: Record<Address, Hex> = {
  [account]: deployed(geoAccountRuntime, () => escrow),
  [escrow]: deployed(geoEscrowRuntime, () => vault),
}

function chainWith(change: Partial<CodeReads> = {}, code: Record<Address, Hex> = {}): CodeReads {
  const codes = { ...honestCode, ...code }
  return {
    chainId: async () => CHAIN,
    code: async (address) => codes[address],
    account: async () => account,
    vault: async () => vault,
    ...change,
  }
}

test.each([
  ['delegate', { account }],
  ['escrow', { escrow }],
])('the deployment of a published %s is found', async (_role, named) => {
  expect(await verifyDeployment(chainWith(), CHAIN, named)).toEqual({ account, escrow, vault })
})

test('delegate and escrow that name each other are one deployment', async () => {
  expect(await verifyDeployment(chainWith(), CHAIN, { account, escrow })).toEqual({ account, escrow, vault })
})

const other = addressOf('2')
const otherEscrow = { [other]: deployed(geoEscrowRuntime, () => vault) }
test.each<[string, string, CodeReads]>([
  ['a delegate without code', 'account', chainWith({ code: async () => undefined })],
  ['a delegate of other code', 'account', chainWith({}, { [account]: '0x60006000fd' })],
  [
    'a delegate with one extra byte',
    'account',
    chainWith({}, { [account]: concat([honestCode[account] ?? '0x', '0x00']) }),
  ],
  [
    'a delegate that names one escrow and obeys another',
    'account',
    chainWith({}, { [account]: deployed(geoAccountRuntime, (place) => (place === 0 ? escrow : other)) }),
  ],
  ['an escrow of other code', 'escrow', chainWith({}, { [escrow]: '0x60006000fd' })],
  ['an escrow that names another delegate', 'escrow.account', chainWith({ account: async () => other })],
  [
    'a delegate of another escrow',
    'escrow.account',
    chainWith(
      { account: async (of) => (of === other ? other : account) },
      { ...otherEscrow, [account]: deployed(geoAccountRuntime, () => other) },
    ),
  ],
])('%s is refused', async (_name, field, chain) => {
  const refusal = verifyDeployment(chain, CHAIN, { account })

  await expect(refusal).rejects.toMatchObject({ code: 'TAMPERED_OPERATION', differences: [{ field }] })
})

test('a node of another chain is refused', async () => {
  const refusal = verifyDeployment(chainWith({ chainId: async () => 1 }), CHAIN, { account })

  await expect(refusal).rejects.toMatchObject({ code: 'UNPINNED' })
})

test('a delegate whose escrow is no plain address is refused', async () => {
  const odd = deployed(geoAccountRuntime, () => pad(escrow).replace(/^0x00/, '0x01') as Hex)

  await expect(verifyDeployment(chainWith({}, { [account]: odd }), CHAIN, { account })).rejects.toThrow(
    'published',
  )
})

test.each<[string, CodeReads, NamedContracts]>([
  [
    'whose delegate obeys another one',
    chainWith({}, { [account]: deployed(geoAccountRuntime, () => other) }),
    { escrow },
  ],
  ['that is not the one of the named delegate', chainWith(), { account, escrow: other }],
])('an escrow %s is refused', async (_name, chain, named) => {
  const refusal = verifyDeployment(chain, CHAIN, named)

  await expect(refusal).rejects.toMatchObject({ differences: [{ field: 'account.escrow' }] })
})
