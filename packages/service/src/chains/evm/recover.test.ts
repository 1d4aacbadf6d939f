import fc from 'fast-check'
import { bytesToHex, concat, type Hex, keccak256, recoverAddress, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { isHashSigned, recoverSigner } from './signatures.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const wallet = account.address
const hash = keccak256(toHex('one'))
const other = keccak256(toHex('other'))

test('a wallet signs the 32 bytes, or the digest of typed data', async () => {
  expect(isHashSigned(wallet, hash, await account.signMessage({ message: { raw: hash } }))).toBe(true)
  expect(isHashSigned(wallet, hash, await account.sign({ hash }))).toBe(true)
})

test('a signature that was checked before is good for its hash and its wallet only', async () => {
  const signature = await account.sign({ hash })
  expect(recoverSigner(hash, signature)).toBe(wallet)

  expect(isHashSigned(wallet, other, signature)).toBe(false)
  expect(isHashSigned(`0x${'2'.repeat(40)}`, hash, signature)).toBe(false)
  expect(isHashSigned(wallet, hash, await account.sign({ hash: other }))).toBe(false)
})

test.each(['0x', '0x12', `0x${'ff'.repeat(65)}`, `0x${'00'.repeat(64)}1b`, `0x${'zz'.repeat(65)}`] as const)(
  'nobody signed with %s',
  (bytes) => {
    expect(recoverSigner(hash, bytes)).toBe(undefined)
    expect(isHashSigned(wallet, hash, bytes)).toBe(false)
  },
)

const words = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes))
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** The same signature in the form with the higher s. */
const turned = (signature: Hex): Hex => {
  const s = ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '0x1c' : '0x1b'
  return concat([signature.slice(0, 66) as Hex, toHex(s, { size: 32 }), v])
}

test('every signature has the signer that viem finds, or none', async () => {
  const v = fc.constantFrom<Hex[]>('0x00', '0x01', '0x1b', '0x1c', '0x02', '0x1d')
  const cases = fc.sample(fc.tuple(words, words, words, v), { numRuns: 30, seed: 1 })
  const signed = await Promise.all(cases.map(async ([hash]) => [hash, await account.sign({ hash })] as const))
  const random = cases.map(([hash, r, s, v]) => [hash, concat([r, s, v])] as const)
  const other = signed.map(([hash, signature]) => [hash, turned(signature)] as const)

  for (const [hash, signature] of [...signed, ...random, ...other])
    expect(recoverSigner(hash, signature)).toBe(
      await recoverAddress({ hash, signature }).catch(() => undefined),
    )
  expect(signed.every(([hash, signature]) => recoverSigner(hash, signature) === wallet)).toBe(true)
})
