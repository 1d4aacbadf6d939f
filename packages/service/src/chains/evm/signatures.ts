import { recover } from 'tiny-secp256k1'
import {
  type Address,
  bytesToHex,
  getAddress,
  type Hex,
  hashMessage,
  hexToBytes,
  isAddressEqual,
  recoverAddress,
  size,
  slice,
} from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { hashAuthorization } from 'viem/utils'
import { createMemory } from '../../async/cache.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import type { Delegation } from '../chain.ts'

const remember = createMemory<Address | undefined>()
const rememberBoth = createMemory<readonly (Address | undefined)[]>()

/**
 * The signer of a hash, undefined if the bytes are no signature. Recovers each once: the same signature is checked
 * before every lock and delivery.
 */
export function recoverSigner(hash: Hex, signature: Hex): Address | undefined {
  return remember(`${hash} ${signature}`, () => recoverOnce(hash, signature))
}

const PARITY_OF_V = new Map<number | undefined, 0 | 1>([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])

// See docs/decisions.md#a-faster-recovery-of-signers.
/** By libsecp256k1: it takes a fifth of the time of viem's implementation. */
function recoverOnce(hash: Hex, signature: Hex): Address | undefined {
  try {
    const bytes = hexToBytes(signature)
    const parity = PARITY_OF_V.get(bytes[64])
    if (parity === undefined || bytes.length !== 65) return undefined
    const key = recover(hexToBytes(hash), bytes.subarray(0, 64), parity)
    return key ? publicKeyToAddress(bytesToHex(key)) : undefined
  } catch {
    // Bytes that are not a point on the curve were signed by nobody.
    return undefined
  }
}

/** Whether the wallet signed a hash: as 32 bytes with EIP-191 personal_sign, or as the digest of typed data. */
export function isHashSigned(wallet: string, hash: string, signature: string): boolean {
  const signers = rememberBoth(`${hash} ${signature}`, () => {
    const digests = [hashMessage({ raw: hash as Hex }), hash as Hex]
    return digests.map((digest) => recoverSigner(digest, signature as Hex))
  })
  return signers.some((signer) => signer === wallet)
}

/** The signer of a message (EIP-191), not remembered: strangers sign one for each request. */
export function recoverMessageSigner(message: string, signature: string): Address | undefined {
  return recoverOnce(hashMessage({ raw: message as Hex }), signature as Hex)
}

// EIP-7702: the code of a delegated account is this prefix followed by the delegate's address.
const DELEGATION_PREFIX = '0xef0100'

type Reading = { code: Hex | undefined; nonce: number; pendingNonce: number }
type Accounts = { account: Address; olderAccounts: readonly Address[] }

export function toDelegation(reading: Reading, { account, olderAccounts }: Accounts): Delegation {
  const { code = '0x', nonce, pendingNonce } = reading
  if (size(code) === 0) return { kind: 'none', nonce, pendingNonce }
  const delegate = delegateOf(code)
  if (!delegate) return { kind: 'contract' }
  if (isAddressEqual(delegate, account)) return { kind: 'ours', delegate }
  const isOlder = olderAccounts.some((older) => isAddressEqual(older, delegate))
  return isOlder ? { kind: 'older', delegate, nonce, pendingNonce } : { kind: 'foreign', delegate }
}

function delegateOf(code: Hex): Address | undefined {
  if (size(code) !== 23 || slice(code, 0, 3) !== DELEGATION_PREFIX) return undefined
  return getAddress(slice(code, 3))
}

// EIP-2: a signature with the higher s is a second form of the same one, and nodes refuse it.
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Whether the wallet signed this delegation; the caller checks its content. */
export async function isDelegationSigned(wallet: string, signed: SignedDelegation): Promise<boolean> {
  if (BigInt(signed.s) > HALF_ORDER) return false
  const hash = hashAuthorization({
    chainId: signed.chainId,
    address: signed.address as Address,
    nonce: signed.nonce,
  })
  const signature = { r: signed.r as Hex, s: signed.s as Hex, yParity: signed.yParity }
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet as Address)
  } catch {
    // Not a point on the curve, so not a valid signature.
    return false
  }
}
