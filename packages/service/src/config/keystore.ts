import { randomBytes, scryptSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as Keystore from 'ox/Keystore'
import type { Hex } from 'viem'
import { familyOfRole, type KeyRole } from '../chains/families.ts'
import { Secret } from '../config.ts'

/** A key file: Web3 Secret Storage with a role, and an address in the form of its family. */
type KeyFile = EncryptedSecret & { role: KeyRole; address: string }
type ListedKey = { file: string; role: KeyRole; address: string }

/** Lists the keys of a folder without decrypting any. */
export function listKeys(folder: string): ListedKey[] {
  return readFolder(folder).map(({ file, key }) => ({ file, role: key.role, address: toAddress(key) }))
}

/** Decrypts the keys of these roles only. */
export function openKeys(
  folder: string,
  { roles, passphrase }: { roles: readonly string[]; passphrase: string },
) {
  const wanted = readFolder(folder).filter(({ key }) => roles.includes(key.role))
  return wanted.map(({ file, key }) => {
    const privateKey = decryptSecret(key, passphrase)
    if (!privateKey)
      throw new Error(`${file} cannot be opened: the passphrase is wrong, or the file was changed`)
    const address = toAddress(key)
    if (keysOf(key.role).addressOf(privateKey) !== address)
      throw new Error(`${file} holds the key of another address than it states`)
    return { role: key.role, address, key: new Secret(privateKey) }
  })
}

/** Creates a new encrypted key in the form of its file. */
export function createKeyFile(
  role: KeyRole,
  passphrase: string,
  cost?: ScryptCost,
): { file: KeyFile; address: string } {
  const secret: Hex = `0x${randomBytes(32).toString('hex')}`
  const { addressOf, inFile } = keysOf(role)
  const address = addressOf(secret)
  return {
    file: { address: inFile.write(address), role, ...encryptSecret(secret, passphrase, cost) },
    address,
  }
}

function keysOf(role: string) {
  const family = familyOfRole(role)
  if (!family) throw new Error(`Unknown role of a key: ${role}`)
  return family.keys
}

const toAddress = ({ role, address }: KeyFile) => keysOf(role).inFile.read(address)

function readFolder(folder: string): { file: string; key: KeyFile }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const file = join(folder, name)
      return { file, key: readKeyFile(file) }
    })
}

function readKeyFile(file: string): KeyFile {
  const key = parseKeyFile(file)
  if (!key?.role || !familyOfRole(key.role)) throw new Error(`${file} has an unknown role`)
  return key
}

function parseKeyFile(file: string): KeyFile | null {
  const text = readFileSync(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not a key file: it is not JSON`, { cause: error })
  }
}

/** Web3 Secret Storage, version 3, as Ethereum wallets and nodes read it. */
export type EncryptedSecret = Keystore.Keystore

export type ScryptCost = { n: number; r: number; p: number }

// 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// The limit for files: a modified one must not exhaust the memory.
const MAX_COST = { n: 2 ** 19, r: 8, p: 8 }

export function encryptSecret(secret: Hex, passphrase: string, cost: ScryptCost = COST): EncryptedSecret {
  const kdfparams = { dklen: 32, ...cost, salt: randomBytes(32).toString('hex') }
  const options = { kdf: 'scrypt', kdfparams, iv: new Uint8Array(randomBytes(16)) } as const
  return Keystore.encrypt(secret, deriveKey(passphrase, kdfparams), options)
}

/** By OpenSSL, which takes less than half the time of JavaScript. */
function deriveKey(passphrase: string, { n, r, p, salt }: ScryptCost & { salt: string }): Hex {
  const cost = { N: n, r, p, maxmem: 256 * r * (n + p) }
  return `0x${scryptSync(passphrase, Buffer.from(salt, 'hex'), 32, cost).toString('hex')}`
}

/** Undefined if the passphrase is wrong or the file was modified. */
export function decryptSecret(encrypted: EncryptedSecret, passphrase: string): Hex | undefined {
  assertBounded(encrypted)
  const key = deriveKey(passphrase, encrypted.crypto.kdfparams as ScryptCost & { salt: string })
  try {
    return Keystore.decrypt(encrypted, key)
  } catch {
    return undefined
  }
}

function assertBounded({ version, crypto }: EncryptedSecret): void {
  if (version !== 3 || crypto.cipher !== 'aes-128-ctr' || crypto.kdf !== 'scrypt') {
    throw new Error('A key file must be Web3 Secret Storage 3 with scrypt and aes-128-ctr')
  }
  const { n, r, p } = crypto.kdfparams as ScryptCost
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (!isBounded) throw new RangeError('The key file asks for too much memory')
}
