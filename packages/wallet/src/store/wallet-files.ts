import { randomBytes, scryptSync } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as Keystore from 'ox/Keystore'
import { UserError } from '../errors.ts'
import { addressOf, type Family, type Key } from '../keys.ts'
import { createJsonFile, damaged, isErrno, readJsonFile } from './private-files.ts'

/** A private key under a passphrase, in Web3 Secret Storage 3, which other wallets open too. */
type EncryptedKey = Keystore.Keystore

// OWASP's first recommendation for scrypt: 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// Limits the time and memory that a modified file can make scrypt use.
const MAX_COST = { n: 2 ** 19, r: 8, p: 4 }

type Derivation = typeof COST & { salt: string }

export function encryptKey(secret: Uint8Array, passphrase: string): EncryptedKey {
  const kdfparams = { ...COST, dklen: 32, salt: randomBytes(32).toString('hex') }
  const options = { iv: Uint8Array.from(randomBytes(16)), kdf: 'scrypt', kdfparams } as const
  return Keystore.encrypt(Uint8Array.from(secret), deriveKey(passphrase, kdfparams), options)
}

/** Undefined if the passphrase is wrong or the data was changed. */
export function decryptKey(encrypted: EncryptedKey, passphrase: string): Uint8Array | undefined {
  const { kdf, kdfparams } = encrypted.crypto
  const { n, r, p } = kdfparams as Derivation
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (kdf !== 'scrypt' || !isBounded) throw new RangeError('The key file asks for too much memory')
  const key = deriveKey(passphrase, kdfparams as Derivation)
  try {
    return Keystore.decrypt(encrypted, key, { as: 'Bytes' })
  } catch {
    return undefined
  }
}

/** By Node: the library's own scrypt takes more than twice as long. */
function deriveKey(passphrase: string, { n, r, p, salt }: Derivation): Keystore.Key {
  const cost = { N: n, r, p, maxmem: 256 * n * r }
  const key = scryptSync(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), 32, cost)
  return `0x${key.toString('hex')}`
}

/** The fields readable without the passphrase. */
export type Wallet = { name: string; family: Family; address: string; createdAt: string }
type StoredWallet = Wallet & EncryptedKey

export type WalletFiles = ReturnType<typeof openWalletFiles>

const NAME = /^[A-Za-z][\w-]{0,31}$/
// The local network's own wallet, which needs no file.
export const LOCAL_WALLET = 'local'

/**
 * One file for each wallet, `<name>.json`, readable by its owner only: Web3 Secret Storage 3 with the
 * fields of the wallet.
 */
export function openWalletFiles(folder: string) {
  const pathOf = (name: string) => join(folder, `${name}.json`)

  function readStored(name: string): StoredWallet | undefined {
    if (!NAME.test(name)) return undefined
    const stored = readJsonFile(pathOf(name)) as StoredWallet | undefined
    if (stored && (stored.version !== 3 || stored.name !== name || !stored.crypto))
      throw damaged(pathOf(name))
    return stored
  }

  function find(name: string): Wallet | undefined {
    const stored = readStored(name)
    return stored && toWallet(stored)
  }

  /** Throws if a wallet cannot have this name. */
  function assertFree(name: string): void {
    assertName(name)
    if (find(name)) throw exists(name)
  }

  return {
    find,
    assertFree,

    list: (): Wallet[] =>
      readNames(folder)
        .flatMap((name) => find(name) ?? [])
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)),

    /** Never replaces a wallet: its key may be the only copy. */
    async add(name: string, key: Key, passphrase: string): Promise<Wallet> {
      assertFree(name)
      const address = await addressOf(key)
      const wallet = { name, family: key.family, address, createdAt: new Date().toISOString() }
      const isNew = createJsonFile(pathOf(name), { ...wallet, ...encryptKey(key.secret, passphrase) })
      if (!isNew) throw exists(name)
      return wallet
    },

    async unlock({ name }: Pick<Wallet, 'name'>, passphrase: string): Promise<Key> {
      const stored = readStored(name)
      if (!stored) throw new UserError('NO_WALLET', `There is no wallet ${name}.`)
      const secret = decryptKey(stored, passphrase)
      const key = secret && { family: stored.family, secret }
      // A key of another address was put into the file, or its address was changed.
      if (!key || (await addressOf(key)) !== stored.address)
        throw new UserError('WRONG_PASSPHRASE', `The passphrase does not open wallet ${name}.`)
      return key
    },

    remove: ({ name }: Pick<Wallet, 'name'>): void => rmSync(pathOf(name)),
  }
}

function toWallet({ name, family, address, createdAt }: StoredWallet): Wallet {
  return { name, family, address, createdAt }
}

function assertName(name: string): void {
  const advice = 'Use up to 32 letters, digits, - and _, beginning with a letter.'
  if (!NAME.test(name)) throw new UserError('USAGE', `${name} cannot be the name of a wallet.`, { advice })
  if (name === LOCAL_WALLET)
    throw new UserError('USAGE', `${LOCAL_WALLET} is the name of the local network's own wallet.`)
}

function exists(name: string): UserError {
  return new UserError('WALLET_EXISTS', `There is a wallet ${name}.`, { advice: 'Choose another name.' })
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((file) => /^([A-Za-z][\w-]*)\.json$/.exec(file)?.[1] ?? [])
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
