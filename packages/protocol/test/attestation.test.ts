import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { attestationTypes, joinSignatures, planDeployment, sortAttesters } from '../src/index.ts'

const keys = ['11', '22', '33'].map((byte) => privateKeyToAccount(`0x${byte.repeat(32)}`))
const addresses = keys.map(({ address }) => address)
const typed = {
  domain: { name: 'GeoEscrow', version: '1', chainId: 1 },
  types: attestationTypes,
  primaryType: 'Refund',
  message: { op: `0x${'ab'.repeat(32)}`, validUntil: 7n },
} as const
const sign = () =>
  Promise.all(keys.map(async (key) => ({ signer: key.address, signature: await key.signTypedData(typed) })))

test('signatures are joined in the order of their signers, 64 bytes each, whatever the order given', async () => {
  const signatures = await sign()

  const joined = joinSignatures(signatures)

  expect(joined).toHaveLength(2 + 3 * 128)
  expect(joinSignatures([...signatures].reverse())).toBe(joined)
  const parts = sortAttesters(addresses).map((signer) =>
    joinSignatures(signatures.filter((each) => each.signer === signer)),
  )
  expect(joined).toBe(`0x${parts.map((part) => part.slice(2)).join('')}`)
})

test('compact signatures stay as they are', async () => {
  const [first] = await sign()
  if (!first) throw new Error('no signature')
  const compact = joinSignatures([first])

  expect(joinSignatures([{ ...first, signature: compact }])).toBe(compact)
})

test('a signer that comes twice is refused, also in another spelling', async () => {
  const [first] = await sign()
  if (!first) throw new Error('no signature')
  const lower = { ...first, signer: first.signer.toLowerCase() as `0x${string}` }

  expect(() => joinSignatures([first, lower])).toThrow('signed twice')
})

test('attesters are sorted by number, not by the letters of their checksum', () => {
  const [a, b] = [`0x${'aB'.repeat(20)}`, `0x${'Aa'.repeat(20)}`] as const

  expect(sortAttesters([a, b])).toEqual([b, a])
})

test('the order in which attesters are named does not change the addresses, the threshold does', () => {
  const [treasury] = addresses as [`0x${string}`]
  const plan = (attesters: readonly `0x${string}`[], threshold: number) =>
    planDeployment({ treasury, attesters, threshold }).contracts.escrow

  expect(plan([...addresses].reverse(), 2)).toBe(plan(addresses, 2))
  expect(plan(addresses, 3)).not.toBe(plan(addresses, 2))
})
