import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { CustodyOf } from '../../swap/op-terms.ts'
import type { Attested } from '../attested.ts'
import { createAttestationMessages } from './attesters.ts'

const attester = privateKeyToAccount(`0x${'7'.repeat(64)}`)
const hashOf = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`
const custodyOf = ((chainId) =>
  chainId === 3
    ? { program: 'program' }
    : { escrow: `0x${String(chainId).repeat(40)}`, vault: `0x${'9'.repeat(40)}` }) as CustodyOf
const { messageOf, recoverSigner } = createAttestationMessages(custodyOf)

const claim: Attested = { chainId: 1, kind: 'claim', opHashes: [hashOf('a'), hashOf('b')] }
const refund: Attested = { chainId: 1, kind: 'refund', opHashes: [hashOf('a')], validUntil: 60 }

test('a claim is of all ops in their order, a refund of one op until its expiry', () => {
  expect(messageOf(claim)).toMatchObject({ primaryType: 'Claims', message: { ops: claim.opHashes } })
  expect(messageOf(refund)).toMatchObject({
    primaryType: 'Refund',
    message: { op: hashOf('a'), validUntil: 60n },
    domain: { chainId: 1, verifyingContract: `0x${'1'.repeat(40)}` },
  })
})

test.each<[string, Attested]>([
  ['claim', claim],
  ['refund', refund],
])('the signer of a %s is known from its signature', async (_, attested) => {
  const signature = await attester.signTypedData(messageOf(attested) as never)

  expect(await recoverSigner(attested, signature)).toBe(attester.address)
})

test.each<[string, Partial<Attested>]>([
  ['another order of its ops', { opHashes: [hashOf('b'), hashOf('a')] }],
  ['another chain', { chainId: 2 }],
  ['the other outcome', { kind: 'refund', opHashes: [hashOf('a')] }],
])('a signature of a claim is none of %s', async (_, changed) => {
  const signature = await attester.signTypedData(messageOf(claim) as never)

  expect(await recoverSigner({ ...claim, ...changed }, signature)).not.toBe(attester.address)
})

test('a text that is no signature has no signer', async () => {
  expect(await recoverSigner(claim, '0x12')).toBeUndefined()
})

test('a chain without an escrow contract has no such message', () => {
  expect(() => messageOf({ ...claim, chainId: 3 })).toThrow('Chain 3 has no escrow contract')
})
