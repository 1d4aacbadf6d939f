import { createPrivateKey, createPublicKey, randomBytes, scryptSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAddressDecoder } from '@solana/kit'
import * as Keystore from 'ox/Keystore'
import { getAddress, type Hex, isAddress, isAddressEqual } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { Secret } from '../config.ts'

/** Key roles; a key has one role. */
export const EVM_ROLES = [
  'relayer',
  'authorization-relayer',
  'deliverer',
  'attester',
  'deployer',
  'treasury',
  'guardian',
  'float',
] as const
/** Solana keys of the worker. */
export const SOLANA_WORKER_ROLES = ['inventory', 'fee-input', 'fee-delivery', 'fee-float'] as const
export const SOLANA_ROLES = [
  ...SOLANA_WORKER_ROLES,
  ...(['solana-attester', 'solana-deployer', 'solana-program'] as const),
] as const
export type KeyRole = (typeof EVM_ROLES)[number] | (typeof SOLANA_ROLES)[number]

/** A key file: Web3 Secret Storage with a role, and for Solana a base58 address. */
type KeyFile = EncryptedSecret & { role: KeyRole; address: string }
type ListedKey = { file: string; role: KeyRole; address: string }

function isSolanaRole(role: KeyRole): boolean {
  return SOLANA_ROLES.some((known) => known === role)
}

/** Lists the keys of a folder without decrypting any. */
export function listKeys(folder: string): ListedKey[] {
  return readFolder(folder).map(({ file, key }) => ({ file, role: key.role, address: toAddress(key) }))
}

/** Decrypts the keys of these roles only. */
export function openKeys(
  folder: string,
  { roles, passphrase }: { roles: readonly KeyRole[]; passphrase: string },
) {
  const wanted = readFolder(folder).filter(({ key }) => roles.includes(key.role))
  return wanted.map(({ file, key }) => {
    const privateKey = decryptSecret(key, passphrase)
    if (!privateKey)
      throw new Error(`${file} cannot be opened: the passphrase is wrong, or the file was changed`)
    if (!isKeyOf(privateKey, key)) throw new Error(`${file} holds the key of another address than it states`)
    return { role: key.role, address: toAddress(key), key: new Secret(privateKey) }
  })
}

/** Creates a new encrypted key in the form of its file. */
export function createKeyFile(
  role: KeyRole,
  passphrase: string,
  cost?: ScryptCost,
): { file: KeyFile; address: string } {
  const secret: Hex = `0x${randomBytes(32).toString('hex')}`
  const address = addressOfKey(role, secret)
  const plain = isSolanaRole(role) ? address : address.slice(2).toLowerCase()
  return { file: { address: plain, role, ...encryptSecret(secret, passphrase, cost) }, address }
}

function addressOfKey(role: KeyRole, privateKey: Hex): string {
  return isSolanaRole(role) ? solanaAddressOf(privateKey) : privateKeyToAddress(privateKey)
}

function isKeyOf(privateKey: Hex, key: KeyFile): boolean {
  const actual = addressOfKey(key.role, privateKey)
  return isSolanaRole(key.role)
    ? actual === key.address
    : isAddressEqual(actual as Hex, toAddress(key) as Hex)
}

/** With its checksum. Web3 Secret Storage omits prefix and checksum of addresses. */
function toAddress({ role, address }: KeyFile): string {
  if (isSolanaRole(role)) return address
  const plain = address.startsWith('0x') ? address : `0x${address}`
  return isAddress(plain, { strict: false }) ? getAddress(plain) : plain
}

// The PKCS #8 prefix of a 32-byte Ed25519 private key (RFC 8410).
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function solanaAddressOf(seed: Hex): string {
  const der = Buffer.concat([ED25519_PKCS8, Buffer.from(seed.slice(2), 'hex')])
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  return getAddressDecoder().decode(Buffer.from(x, 'base64url'))
}

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
  if (!key?.role || ![...EVM_ROLES, ...SOLANA_ROLES].includes(key.role))
    throw new Error(`${file} has an unknown role`)
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
