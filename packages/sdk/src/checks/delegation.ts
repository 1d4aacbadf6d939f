import type { DelegationReply } from '@geoswap/wire'
import { getAddress, zeroAddress } from 'viem'
import { TamperedOperationError } from '../errors.ts'
import type { AuthorizationFields } from '../signers.ts'
import { differs, unless } from './difference.ts'
import { readAddress } from './read-fields.ts'

type Wallet = { chainId: number; walletAddress: string }

/**
 * The fields of the authorization. It sets the wallet's code, so it names this chain and the pinned account
 * only.
 */
export function toAuthorizationFields(
  delegation: DelegationReply,
  { chainId, walletAddress }: Wallet,
  account: string,
): AuthorizationFields {
  const { accountNonce: nonce = -1 } = delegation
  const address = readAddress(delegation, 'delegationTarget')
  const differences = [
    ...differs('delegation.chainId', delegation.chainId, chainId),
    ...differs('delegation.walletAddress', getAddress(delegation.walletAddress), getAddress(walletAddress)),
    ...unless(Number.isSafeInteger(nonce) && nonce >= 0, 'accountNonce', nonce, 'a nonce'),
    ...unless(address !== zeroAddress, 'delegationTarget', address, 'a contract'),
    ...differs('delegationTarget', address, getAddress(account)),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return { chainId, address, nonce }
}

/** False if the service names nothing to authorize; the build then fails if an authorization was required. */
export function needsAuthorization({
  originReady,
  delegationTarget,
  accountNonce,
}: DelegationReply): boolean {
  return !originReady && delegationTarget !== undefined && accountNonce !== undefined
}
