import type { DelegationReply } from '@geoswap/wire'
import { getAddress, zeroAddress } from 'viem'
import { TamperedOperationError } from '../errors.ts'
import type { AuthorizationFields } from '../signers.ts'
import { differs, unless } from './difference.ts'
import { readAddress } from './read-fields.ts'
import type { KnownContracts } from './terms.ts'

type Wallet = { chainId: number; walletAddress: string }

/**
 * The fields to sign over, or undefined when there is nothing to sign. An authorization hands the wallet's code
 * over, so it is made for this chain alone, and where the account is known for no other code.
 */
export function toAuthorizationFields(
  delegation: DelegationReply,
  { chainId, walletAddress }: Wallet,
  known: KnownContracts,
): AuthorizationFields | undefined {
  const { delegationTarget, accountNonce: nonce } = delegation
  if (delegation.originReady || delegationTarget === undefined || nonce === undefined) return undefined
  const address = readAddress(delegation, 'delegationTarget')
  const differences = [
    ...differs('delegation.chainId', delegation.chainId, chainId),
    ...differs('delegation.walletAddress', getAddress(delegation.walletAddress), getAddress(walletAddress)),
    ...unless(Number.isSafeInteger(nonce) && nonce >= 0, 'accountNonce', nonce, 'a nonce'),
    ...unless(address !== zeroAddress, 'delegationTarget', address, 'a contract'),
    ...(known.account === undefined ? [] : differs('delegationTarget', address, getAddress(known.account))),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return { chainId, address, nonce }
}
