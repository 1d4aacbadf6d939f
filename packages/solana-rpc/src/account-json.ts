import type { Address } from '@solana/kit'
import type { Account } from './account-store.ts'
import { type Config, findInteger, readConfig } from './params.ts'
import { INVALID_REQUEST, invalidParams, RpcError } from './rpc-error.ts'
import { findParsedToken } from './token-json.ts'
import { toBase58 } from './wire-transaction.ts'

type FindAccount = (address: Address) => Account | undefined

const MAX_BASE58_BYTES = 128
// The value that nodes show for rent-exempt accounts, which are the only ones possible.
const RENT_EXEMPT_EPOCH = (1n << 64n) - 1n

/** An account in the form of the client's `encoding` and `dataSlice`. */
export function toAccountJson(account: Account, config: Config, find: FindAccount) {
  const { lamports, owner, executable, data } = account
  const encoded = encodeData(account, config, find)
  return { lamports, owner, executable, rentEpoch: RENT_EXEMPT_EPOCH, space: data.length, data: encoded }
}

function encodeData(account: Account, config: Config, find: FindAccount): unknown {
  const { encoding } = config
  if (encoding === 'jsonParsed') {
    return findParsedToken(account, find) ?? [toBase64(sliced(account.data, config)), 'base64']
  }
  const data = sliced(account.data, config)
  if (encoding === 'base64') return [toBase64(data), 'base64']
  if (encoding === undefined || encoding === null || encoding === 'binary') return shortBase58(data)
  if (encoding === 'base58') return [shortBase58(data), 'base58']
  throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported: base58, base64, jsonParsed`)
}

function sliced(data: Uint8Array, config: Config): Uint8Array {
  if (config.dataSlice === undefined || config.dataSlice === null) return data
  const slice = readConfig(config.dataSlice)
  const offset = findInteger(slice.offset) ?? 0
  return data.subarray(offset, offset + (findInteger(slice.length) ?? 0))
}

function shortBase58(data: Uint8Array): string {
  if (data.length <= MAX_BASE58_BYTES) return toBase58(data)
  const limit = `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes`
  throw new RpcError(INVALID_REQUEST, `${limit}, please use Base64 encoding.`)
}

export function toBase64(data: Uint8Array): string {
  return Buffer.from(data).toString('base64')
}
