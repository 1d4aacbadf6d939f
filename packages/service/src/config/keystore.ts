import { createHash, randomBytes, type ScryptOptions, scrypt, scryptSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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

/**
 * Derives what opens the keys of these roles, on all processors, so that `openKeys` finds it. A folder that cannot be
 * read is left to it.
 */
export async function prepareKeys(
  folder: string,
  { roles, passphrase }: { roles: readonly string[]; passphrase: string },
): Promise<void> {
  const keys = readSound(folder).filter(({ role }) => roles.includes(role))
  const waiting = new Map(keys.map((key) => [paramsOf(key).salt, paramsOf(key)]))
  const work = [...waiting.values()].values()
  const derive = async () => {
    for (const params of work) derived.set(nameOf(passphrase, params), await deriveBeside(passphrase, params))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, derive))
}

/**
 * Creates a new encrypted key in the form of its file. With the salt of another file one derivation opens both: who
 * guesses the passphrase of one has that of the other anyway.
 */
export function createKeyFile(
  role: KeyRole,
  passphrase: string,
  { salt, ...cost }: Partial<ScryptCost> & { salt?: string | undefined } = {},
): { file: KeyFile; address: string } {
  const secret: Hex = `0x${randomBytes(32).toString('hex')}`
  const { addressOf, inFile } = keysOf(role)
  const address = addressOf(secret)
  return {
    file: {
      address: inFile.write(address),
      role,
      ...encryptSecret(secret, passphrase, { ...COST, ...cost, salt }),
    },
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
type ScryptParams = ScryptCost & { salt: string }

// 128 MiB and some tenths of a second per guess.
const COST = { n: 2 ** 17, r: 8, p: 1 }
// The limit for files: a modified one must not exhaust the memory.
const MAX_COST = { n: 2 ** 19, r: 8, p: 8 }

export function encryptSecret(
  secret: Hex,
  passphrase: string,
  { salt = randomBytes(32).toString('hex'), ...cost }: ScryptCost & { salt?: string | undefined } = COST,
): EncryptedSecret {
  const kdfparams = { dklen: 32, ...cost, salt }
  const options = { kdf: 'scrypt', kdfparams, iv: new Uint8Array(randomBytes(16)) } as const
  return Keystore.encrypt(secret, deriveKey(passphrase, kdfparams), options)
}

const derived = new Map<string, Hex>()

/** The memory keeps no passphrase. */
const nameOf = (passphrase: string, { n, r, p, salt }: ScryptParams) =>
  createHash('sha256')
    .update(JSON.stringify([passphrase, n, r, p, salt]))
    .digest('hex')

const toOptions = ({ n, r, p }: ScryptCost): ScryptOptions => ({ N: n, r, p, maxmem: 256 * r * (n + p) })

/** By OpenSSL, which takes less than half the time of JavaScript; once per process. */
function deriveKey(passphrase: string, params: ScryptParams): Hex {
  const name = nameOf(passphrase, params)
  const known = derived.get(name)
  if (known) return known
  const key = scryptSync(passphrase, Buffer.from(params.salt, 'hex'), 32, toOptions(params))
  derived.set(name, `0x${key.toString('hex')}`)
  return `0x${key.toString('hex')}`
}

/** On a thread beside this one. */
function deriveBeside(passphrase: string, params: ScryptParams): Promise<Hex> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.from(params.salt, 'hex'), 32, toOptions(params), (error, key) =>
      error ? reject(error) : resolve(`0x${key.toString('hex')}`),
    )
  })
}

/** Undefined if the passphrase is wrong or the file was modified. */
export function decryptSecret(encrypted: EncryptedSecret, passphrase: string): Hex | undefined {
  assertBounded(encrypted)
  const key = deriveKey(passphrase, paramsOf(encrypted))
  try {
    return Keystore.decrypt(encrypted, key)
  } catch {
    return undefined
  }
}

const paramsOf = ({ crypto }: EncryptedSecret) => crypto.kdfparams as ScryptParams

/** Without the files of which `openKeys` says why it refuses them. */
function readSound(folder: string): KeyFile[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.flatMap((name) => {
    try {
      const key = readKeyFile(join(folder, name))
      assertBounded(key)
      return [key]
    } catch {
      return []
    }
  })
}

/** The salt of a file in the folder; undefined if there is none. */
export const saltIn = (folder: string): string | undefined =>
  readSound(folder).map((key) => paramsOf(key).salt)[0]

function assertBounded({ version, crypto }: EncryptedSecret): void {
  if (version !== 3 || crypto.cipher !== 'aes-128-ctr' || crypto.kdf !== 'scrypt') {
    throw new Error('A key file must be Web3 Secret Storage 3 with scrypt and aes-128-ctr')
  }
  const { n, r, p } = crypto.kdfparams as ScryptCost
  const isBounded = n <= MAX_COST.n && r <= MAX_COST.r && p <= MAX_COST.p
  if (!isBounded) throw new RangeError('The key file asks for too much memory')
}
