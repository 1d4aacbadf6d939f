import { keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { isHashSigned, recoverSigner } from './recover.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const wallet = account.address
const hash = keccak256(toHex('one'))
const other = keccak256(toHex('other'))

test('a wallet signs the 32 bytes, or the digest of typed data', async () => {
  expect(await isHashSigned(wallet, hash, await account.signMessage({ message: { raw: hash } }))).toBe(true)
  expect(await isHashSigned(wallet, hash, await account.sign({ hash }))).toBe(true)
})

test('a signature that was checked before is good for its hash and its wallet only', async () => {
  const signature = await account.sign({ hash })
  expect(await recoverSigner(hash, signature)).toBe(wallet)

  expect(await isHashSigned(wallet, other, signature)).toBe(false)
  expect(await isHashSigned(`0x${'2'.repeat(40)}`, hash, signature)).toBe(false)
  expect(await isHashSigned(wallet, hash, await account.sign({ hash: other }))).toBe(false)
})

test.each(['0x', '0x12', `0x${'ff'.repeat(65)}`, `0x${'00'.repeat(64)}1b`] as const)(
  'nobody signed with %s',
  async (bytes) => {
    expect(await recoverSigner(hash, bytes)).toBe(undefined)
    expect(await isHashSigned(wallet, hash, bytes)).toBe(false)
  },
)
