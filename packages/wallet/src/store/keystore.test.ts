import * as Keystore from 'ox/Keystore'
import { expect, test } from 'vitest'
import { decryptKey, encryptKey } from './wallet-files.ts'

const secret = new Uint8Array(32).fill(7)
const password = 'correct horse'

test('other wallets open the file, and their files are opened', () => {
  const ours = encryptKey(secret, password)
  const [key, options] = Keystore.scrypt({ password, n: 2 ** 12, r: 8, p: 1 })

  expect(Keystore.decrypt(ours, Keystore.toKey(ours, { password }), { as: 'Bytes' })).toEqual(secret)
  expect(decryptKey(Keystore.encrypt(secret, key, options), password)).toEqual(secret)
})

test('a file that asks for too much memory is refused', () => {
  const [key, options] = Keystore.scrypt({ password, n: 2 ** 12, r: 16, p: 1 })

  expect(() => decryptKey(Keystore.encrypt(secret, key, options), password)).toThrow(/too much memory/)
})
