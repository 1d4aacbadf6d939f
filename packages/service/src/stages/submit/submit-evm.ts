import { expectedOf, type SubmitReply, SubmitRequest } from '@geoswap/wire'
import type { OriginChain } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { Submission } from '../../store/submissions.ts'
import type { SignedDelegation } from '../../swap/swap.ts'
import { isSent, wayOf } from '../../ways/registry.ts'
import { type Caller, type SubmitOnceDeps, submitOnce } from './submit-once.ts'

type OpenedOp = { opId: string; expiresAt?: number; delegation?: SignedDelegation }

export type SubmitDeps = SubmitOnceDeps & {
  openOp(accountId: string, token: string): OpenedOp
  originOf(chainId: number): OriginChain
  /** Resolves to undefined if the node has not answered in time. */
  within<T>(ms: number, work: Promise<T>): Promise<T | undefined>
}

// Bounds the one chain read of a submission, so that a slow node does not delay the caller.
const RECHECK_MS = 300

/** Accepts what pays for an op: the wallet's signature, or the promise of a deposit. */
export async function submit(deps: SubmitDeps, caller: Caller, request: SubmitRequest): Promise<SubmitReply> {
  const { opId, expiresAt, delegation } = deps.openOp(caller.accountId, request.geoOpToken)
  return submitOnce(deps, {
    caller,
    opId,
    expiresAt,
    isOver: false,
    async recheck(submission) {
      if (delegation) await recheckDelegation(deps, submission, delegation)
    },
    async verify(submission) {
      const signature = await getSignature(deps, submission, request.signature)
      return { signature, delegation }
    },
  })
}

async function recheckDelegation(deps: SubmitDeps, submission: Submission, signed: SignedDelegation) {
  // Async, so that a closed chain's immediate refusal also counts as no answer.
  const reading = async () => deps.originOf(submission.originChain).readDelegation?.(submission.wallet)
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
  const way = wayOf(submission)
  if (isSent(submission)) return assertNone(text)
  if (text === undefined)
    throw invalidRequest({
      field: 'signature',
      message: `is required: ${expectedOf(SubmitRequest.properties.signature)}`,
    })
  const signature = parseSignature(text)
  // A contract wallet may have signatures of any form.
  const isOfContract = way.canPay('contract') && isBytes(text)
  const stored = signature ? toCanonical(signature) : isOfContract ? text.toLowerCase() : undefined
  if (stored && (await isInputSigned(deps, submission, stored))) return stored
  if (way.signs === 'hash') throw new ServiceError('INVALID_SIGNATURE')
  throw new ServiceError('INVALID_SIGNATURE', {
    message: 'The wallet did not sign typedData of the build. Sign it with eth_signTypedData_v4.',
  })
}

function assertNone(text: string | undefined): string {
  if (text === undefined) return ''
  throw invalidRequest({ field: 'signature', message: 'must be left out: an input that is sent takes none' })
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

/** A wallet's signature: 65 bytes with v 27/28 or 0/1, or the 64 bytes of EIP-2098. */
type ParsedSignature = { r: string; s: string; yParity: 0 | 1 }

// secp256k1: half of the group's order. A higher s is a second form of the same signature (EIP-2).
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const PARITY_BIT = 1n << 255n

/** Undefined if the text is not a low-s signature. */
export function parseSignature(text: string): ParsedSignature | undefined {
  if (!/^0x([0-9a-fA-F]{128}|[0-9a-fA-F]{130})$/.test(text)) return undefined
  const r = `0x${text.slice(2, 66)}`
  const second = BigInt(`0x${text.slice(66, 130)}`)
  if (text.length === 130) {
    const yParity = (second & PARITY_BIT) === 0n ? 0 : 1
    return lowS(r, second & (PARITY_BIT - 1n), yParity)
  }
  const yParity = parityOf(Number.parseInt(text.slice(130), 16))
  return yParity === undefined ? undefined : lowS(r, second, yParity)
}

function parityOf(v: number): 0 | 1 | undefined {
  if (v === 0 || v === 27) return 0
  if (v === 1 || v === 28) return 1
  return undefined
}

function lowS(r: string, s: bigint, yParity: 0 | 1): ParsedSignature | undefined {
  if (s === 0n || s > HALF_ORDER || BigInt(r) === 0n) return undefined
  return { r, s: `0x${s.toString(16).padStart(64, '0')}`, yParity }
}

/** The canonical form in which a signature is stored. */
export function toCanonical({ r, s, yParity }: ParsedSignature): string {
  return `${r.toLowerCase()}${s.slice(2)}${yParity === 0 ? '1b' : '1c'}`
}
