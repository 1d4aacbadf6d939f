import { type Address, getAddress, type Hex, isAddressEqual, recoverAddress, size, slice } from 'viem'
import { hashAuthorization } from 'viem/utils'
import type { SignedDelegation } from '../../model/swap.ts'
import type { Delegation } from '../chain.ts'

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

/** Whether the wallet signed this authorization; the caller checks its content. */
export async function isSignedBy(wallet: Address, signed: SignedDelegation): Promise<boolean> {
  if (BigInt(signed.s) > HALF_ORDER) return false
  const hash = hashAuthorization({
    chainId: signed.chainId,
    address: signed.address as Address,
    nonce: signed.nonce,
  })
  const signature = { r: signed.r as Hex, s: signed.s as Hex, yParity: signed.yParity }
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), wallet)
  } catch {
    // Not a point on the curve, so not a valid signature.
    return false
  }
}
