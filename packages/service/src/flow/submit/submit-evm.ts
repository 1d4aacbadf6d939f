import type { SubmitReply, SubmitRequest } from '@geoswap/wire'
import type { Pool } from 'pg'
import type { OriginChain } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import type { Submission } from '../../store/submissions.ts'
import { parseSignature, toCanonical } from './signature.ts'
import { type Caller, type Submitted, submitOnce } from './submit-once.ts'

type OpenedOp = { opId: string; expiresAt?: number; delegation?: SignedDelegation }

export type SubmitDeps = {
  pool: Pool
  paidNow: Submitted['paidNow']
  openOp(accountId: string, token: string): OpenedOp
  originOf(chainId: number): OriginChain
  /** The signers of the hash: as 32 bytes with EIP-191, or as the digest of typed data. */
  isHashSigned(wallet: string, hash: string, signature: string): boolean
  /** Resolves to undefined if the node has not answered in time. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>
}

// Bounds the one chain read of a submission, so that a slow node does not delay the caller.
const RECHECK_MS = 300

/** Accepts what pays for an op: the wallet's signature, or the promise of a deposit. */
export async function submit(deps: SubmitDeps, caller: Caller, request: SubmitRequest): Promise<SubmitReply> {
  const { opId, expiresAt, delegation } = deps.openOp(caller.accountId, request.geoOpToken)
  return submitOnce(deps.pool, {
    caller,
    opId,
    expiresAt,
    isOver: false,
    paidNow: deps.paidNow,
    async recheck(submission) {
      if (delegation) await recheckDelegation(deps, submission, delegation)
    },
    async verify(submission) {
      const signature = await getSignature(deps, submission, request.signature)
      return { signature, ...(delegation && { delegation }) }
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

const MAX_SIGNATURE_BYTES = 1_024

/** The stored form of the signature; empty for a deposit, which is proved by the lock itself. */
async function getSignature(
  deps: SubmitDeps,
  submission: Submission,
  text: string | undefined,
): Promise<string> {
  const { method = 'delegation' } = submission
  if (method === 'deposit') return assertNone(text)
  if (text === undefined) throw invalidRequest({ field: 'signature', message: 'is required' })
  const signature = parseSignature(text)
  if (method === 'delegation') {
    const stored = signature && toCanonical(signature)
    if (stored && deps.isHashSigned(submission.wallet, submission.hash, stored)) return stored
    throw new ServiceError('INVALID_SIGNATURE')
  }
  // Only a token asks a contract wallet, which may have signatures of any form.
  const isOfContract = method === 'authorization' && isBytes(text)
  const stored = signature ? toCanonical(signature) : isOfContract ? text.toLowerCase() : undefined
  if (stored && (await isInputSigned(deps, submission, stored))) return stored
  throw new ServiceError('INVALID_SIGNATURE', {
    message: 'The wallet did not sign typedData of the build. Sign it with eth_signTypedData_v4.',
  })
}

function assertNone(text: string | undefined): string {
  if (text === undefined) return ''
  throw invalidRequest({ field: 'signature', message: 'is not part of a deposit' })
}

const isBytes = (text: string) =>
  /^0x([0-9a-f]{2})+$/i.test(text) && text.length <= 2 + 2 * MAX_SIGNATURE_BYTES

async function isInputSigned(deps: SubmitDeps, submission: Submission, signature: string): Promise<boolean> {
  const { originChain: chainId } = submission
  try {
    return (await deps.originOf(chainId).ways?.isInputSigned(submission, signature)) ?? false
  } catch (cause) {
    const recovery = { retryAfterMs: 5_000 }
    throw new ServiceError('CHAIN_UNAVAILABLE', { details: { chainId }, recovery, cause })
  }
}
