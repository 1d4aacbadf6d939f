import type { OriginMethod } from '@geoswap/wire'
import type { Delegation } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { SignedDelegation } from '../../model/swap.ts'

type AuthorizationCheck = {
  wallet: string
  chainId: number
  delegationTarget: string
  isSignedBy(wallet: string, signed: SignedDelegation): Promise<boolean>
  /** Other ways in which this wallet can pay. */
  methods: readonly OriginMethod[]
}

/**
 * Returns the authorization that this operation has to carry: undefined if the wallet is already delegated to us.
 * Otherwise checks that the given one is for this chain, our delegate and the account's current nonce, and signed by
 * the wallet. Refuses a wallet with other code, which is never replaced.
 */
export async function authorizationFor(
  check: AuthorizationCheck,
  state: Delegation,
  given: SignedDelegation | undefined,
): Promise<SignedDelegation | undefined> {
  if (state.kind === 'ours' || state.kind === 'unneeded') return undefined
  if (state.kind === 'foreign' || state.kind === 'contract')
    throw new ServiceError('UNSUPPORTED_DELEGATION', { recovery: { methods: check.methods } })
  if (!given) throw needsDelegation(check, state)
  const isForUs = given.chainId === check.chainId && sameAddress(given.address, check.delegationTarget)
  if (!isForUs || !(await check.isSignedBy(check.wallet, given))) {
    throw new ServiceError('INVALID_AUTHORIZATION_SIGNATURE', { recovery: fieldsToSign(check, state) })
  }
  if (given.nonce !== state.nonce || state.pendingNonce !== state.nonce)
    throw staleAuthorization(check, state)
  return { ...given, address: check.delegationTarget }
}

type Undelegated = Extract<Delegation, { kind: 'none' | 'older' }>

function fieldsToSign(check: AuthorizationCheck, state: Undelegated) {
  const { chainId, delegationTarget } = check
  return { chainId, delegationTarget, accountNonce: state.nonce }
}

function needsDelegation(check: AuthorizationCheck, state: Undelegated): ServiceError {
  const { methods } = check
  return new ServiceError('NEEDS_DELEGATION', { recovery: { ...fieldsToSign(check, state), methods } })
}

function staleAuthorization(check: AuthorizationCheck, state: Undelegated): ServiceError {
  const isPending = state.pendingNonce !== state.nonce
  return new ServiceError('INVALID_AUTHORIZATION', {
    ...(isPending && {
      message:
        'The wallet has a transaction of its own pending. Wait for it, sign a fresh authorization, rebuild.',
    }),
    recovery: fieldsToSign(check, state),
  })
}

const sameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
