import { createHash, randomBytes } from 'node:crypto'
import { fromKitSigner, fromViemAccount, type Signer } from '@geoswap/sdk'
import {
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
  address as toSolanaAddress,
} from '@solana/kit'
import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { UserError } from './errors.ts'

export type Family = 'evm' | 'solana'

/** A private key of either family is 32 bytes. */
export type Key = { family: Family; secret: Uint8Array }

export function createKey(family: Family): Key {
  return { family, secret: randomBytes(32) }
}

/** Derives a key that anybody with the seed can compute: only for networks with worthless tokens. */
export function deriveKey(family: Family, seed: string): Key {
  return { family, secret: createHash('sha256').update(`geoswap ${family} ${seed}`).digest() }
}

/** Hex digits for EVM; for Solana base58 of 64 bytes, or the 64 numbers that solana-keygen writes. */
export async function parseKey(text: string): Promise<Key> {
  const trimmed = text.trim()
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(trimmed)) {
    const secret = hexToBytes(`0x${trimmed.replace(/^0x/, '')}`)
    return { family: 'evm', secret }
  }
  const pair = readPair(trimmed)
  if (pair?.length !== 64) throw unreadable()
  const key: Key = { family: 'solana', secret: pair.slice(0, 32) }
  const own = getAddressEncoder().encode(toSolanaAddress(await addressOf(key)))
  if (!Buffer.from(own).equals(Buffer.from(pair.slice(32)))) throw unreadable()
  return key
}

/** The format that wallets import: hex digits, or base58 of the key pair. */
export async function formatKey(key: Key): Promise<string> {
  if (key.family === 'evm') return bytesToHex(key.secret)
  const own = getAddressEncoder().encode(toSolanaAddress(await addressOf(key)))
  return getBase58Decoder().decode(Uint8Array.of(...key.secret, ...own))
}

export async function addressOf(key: Key): Promise<string> {
  return (await toSigner(key)).address
}

export async function toSigner(key: Key): Promise<Signer> {
  if (key.family === 'evm') return fromViemAccount(toAccount(key))
  return fromKitSigner(await createKeyPairSignerFromPrivateKeyBytes(key.secret))
}

export function toAccount({ family, secret }: Key): PrivateKeyAccount {
  if (family !== 'evm') throw new UserError('BAD_KEY', 'This has to be a key of an EVM wallet.')
  try {
    return privateKeyToAccount(bytesToHex(secret) as Hex)
  } catch {
    throw unreadable()
  }
}

function readPair(text: string): Uint8Array | undefined {
  try {
    if (!text.startsWith('[')) return Uint8Array.from(getBase58Encoder().encode(text))
    const numbers: unknown = JSON.parse(text)
    const isBytes =
      Array.isArray(numbers) && numbers.every((each) => Number.isInteger(each) && each >= 0 && each < 256)
    return isBytes ? Uint8Array.from(numbers) : undefined
  } catch {
    return undefined
  }
}

/** Does not repeat the input, which may be a secret. */
function unreadable(): UserError {
  const advice =
    'EVM: 64 hex digits. Solana: base58 of the 64 bytes of the key pair, or the list of numbers in a keypair file.'
  return new UserError('BAD_KEY', 'This is not a private key.', { advice })
}
