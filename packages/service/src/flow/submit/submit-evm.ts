import { randomBytes } from 'node:crypto'
import type { SubmitReply, SubmitRequest } from '@geoswap/wire'
import type { Pool } from 'pg'
import type { OriginChain } from '../../chains/chain.ts'
import { ServiceError } from '../../errors.ts'
import { publicStatus } from '../../model/lifecycle.ts'
import type { SignedDelegation } from '../../model/swap.ts'
import { inTransaction } from '../../store/db.ts'
import {
  findSubmission,
  insertSwap,
  lockSubmission,
  reserveInventory,
  type Submission,
} from '../../store/submissions.ts'
import { type ParsedSignature, parseSignature, toCanonical } from './signature.ts'

type OpenedOp = { opId: string; delegation?: SignedDelegation }

export type SubmitDeps = {
  pool: Pool
  openOp(accountId: string, token: string): OpenedOp
  originOf(chainId: number): OriginChain
  recoverSigner(hash: string, signature: ParsedSignature): Promise<string | undefined>
  /** Resolves to undefined when the node has not answered in time. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>
  /** The submission is on its way to the worker: nothing waits for this. */
  onAccepted(swapId: string): void
}

// The one chain read of a submission: a node that is slower than this does not hold the caller up.
const RECHECK_MS = 300

/** Stores the swap, once per quote, and returns it. Whatever is wrong is said before anything is stored. */
export async function submit(
  deps: SubmitDeps,
  accountId: string,
  request: SubmitRequest,
): Promise<SubmitReply> {
  const { opId, delegation } = deps.openOp(accountId, request.geoOpToken)
  const submission = await findSubmission(deps.pool, opId)
  if (!submission) throw new ServiceError('INVALID_TOKEN')
  if (submission.existing) return answerExisting(deps, submission, request.signature)
  if (!submission.expired) {
    if (delegation) await recheckDelegation(deps, submission, delegation)
    assertBalance(submission)
    const signature = await getSignature(deps, submission, request.signature)
    const reply = await store(deps, submission, { signature, delegation })
    if (reply) return reply
  }
  return answerExpired(deps, submission, request.signature)
}

async function answerExisting(
  deps: SubmitDeps,
  submission: Submission,
  signature: string,
): Promise<SubmitReply> {
  await getSignature(deps, submission, signature)
  return toReply(submission.existing)
}

/**
 * Says 410 only when no swap can follow it: an insert that began in time may still be committing, so this
 * waits for it.
 */
async function answerExpired(
  deps: SubmitDeps,
  submission: Submission,
  signature: string,
): Promise<SubmitReply> {
  const settled = await inTransaction(deps.pool, async (db) => {
    await lockSubmission(db, submission.opId)
    return findSubmission(db, submission.opId)
  })
  if (settled?.existing) return answerExisting(deps, settled, signature)
  throw new ServiceError('OPERATION_EXPIRED')
}

type Signing = { signature: ParsedSignature; delegation: SignedDelegation | undefined }

/** Undefined when the op's time ran out before the insert. */
async function store(
  deps: SubmitDeps,
  { opId }: Submission,
  signing: Signing,
): Promise<SubmitReply | undefined> {
  const swapId = `swp_${randomBytes(16).toString('hex')}`
  const reply = await inTransaction(deps.pool, async (db) => {
    await lockSubmission(db, opId)
    const current = await findSubmission(db, opId)
    if (!current) throw new ServiceError('INVALID_TOKEN')
    if (current.existing) return toReply(current.existing)
    assertBalance(current)
    const { delegation } = signing
    if (!(await insertSwap(db, { swapId, opId, signature: toCanonical(signing.signature), delegation }))) {
      return undefined
    }
    if (!(await reserveInventory(db, opId))) throw liquidityGone()
    return { swapId, status: 'pending' as const }
  })
  if (reply?.swapId === swapId) deps.onAccepted(swapId)
  return reply
}

function liquidityGone(): ServiceError {
  return new ServiceError('INSUFFICIENT_LIQUIDITY', {
    message:
      'Other swaps took what was left since the quote. Request a fresh quote: it says how much there is.',
  })
}

async function recheckDelegation(deps: SubmitDeps, submission: Submission, signed: SignedDelegation) {
  const reading = deps.originOf(submission.originChain).readDelegation(submission.wallet)
  const state = await deps.within(RECHECK_MS, reading)
  if (!state || state.kind === 'ours') return
  if (state.kind === 'foreign' || state.kind === 'contract') throw new ServiceError('UNSUPPORTED_DELEGATION')
  if (state.nonce === signed.nonce) return
  const { chainId, address: delegationTarget } = signed
  throw new ServiceError('INVALID_AUTHORIZATION', {
    recovery: { chainId, delegationTarget, accountNonce: state.nonce },
  })
}

function assertBalance({ walletBalance, openInputs, inputAmount, originChain }: Submission): void {
  if (openInputs + inputAmount <= walletBalance) return
  const details = {
    balance: walletBalance.toString(),
    open: openInputs.toString(),
    required: inputAmount.toString(),
  }
  throw new ServiceError('INSUFFICIENT_BALANCE', {
    message: "The wallet's other open swaps already take what it holds of the input token.",
    details,
    recovery: { chainId: originChain, ...details },
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

function toReply(existing: Submission['existing']): SubmitReply {
  if (!existing) throw new Error('There is no swap to answer with')
  return { swapId: existing.swapId, status: publicStatus(existing.state) }
}
