import type { SubmitReply, SubmitRequest } from '@geoswap/wire'
import type { Pool } from 'pg'
import type { OriginChain } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import type { Submission } from '../../store/submissions.ts'
import { type ParsedSignature, parseSignature, toCanonical } from './signature.ts'
import { type Caller, submitOnce } from './submit-once.ts'

type OpenedOp = { opId: string; expiresAt?: number; delegation?: SignedDelegation }

export type SubmitDeps = {
  pool: Pool
  openOp(accountId: string, token: string): OpenedOp
  originOf(chainId: number): OriginChain
  recoverSigner(hash: string, signature: ParsedSignature): Promise<string | undefined>
  /** Resolves to undefined if the node has not answered in time. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>
}

// Bounds the one chain read of a submission, so that a slow node does not delay the caller.
const RECHECK_MS = 300

/** Accepts a wallet's signature over the op's hash. */
export async function submit(deps: SubmitDeps, caller: Caller, request: SubmitRequest): Promise<SubmitReply> {
  const { opId, expiresAt, delegation } = deps.openOp(caller.accountId, request.geoOpToken)
  return submitOnce(deps.pool, {
    caller,
    opId,
    expiresAt,
    isOver: false,
    async recheck(submission) {
      if (delegation) await recheckDelegation(deps, submission, delegation)
    },
    async verify(submission) {
      const signature = await getSignature(deps, submission, request.signature)
      return { signature: toCanonical(signature), ...(delegation && { delegation }) }
    },
  })
}

async function recheckDelegation(deps: SubmitDeps, submission: Submission, signed: SignedDelegation) {
  // Async, so that a closed chain's immediate refusal also counts as no answer.
  const reading = async () => deps.originOf(submission.originChain).readDelegation(submission.wallet)
  const state = await deps.within(RECHECK_MS, reading())
  if (!state || state.kind === 'ours' || state.kind === 'unneeded') return
  if (state.kind === 'foreign' || state.kind === 'contract') throw new ServiceError('UNSUPPORTED_DELEGATION')
  if (state.nonce === signed.nonce) return
  const { chainId, address: delegationTarget } = signed
  throw new ServiceError('INVALID_AUTHORIZATION', {
    recovery: { chainId, delegationTarget, accountNonce: state.nonce },
  })
}

async function getSignature(
  deps: SubmitDeps,
  submission: Submission,
  text: string,
): Promise<ParsedSignature> {
  const signature = parseSignature(text)
  const signer = signature && (await deps.recoverSigner(submission.hash, signature))
  if (signature && signer === submission.wallet) return signature
  throw new ServiceError('INVALID_SIGNATURE')
}
