import type {
  NamedQuoteRequest,
  OriginMethod,
  QuoteReply,
  QuoteRequest,
  StatusReply,
  SubmitReply,
} from '@geoswap/wire'
import type { Build, Calls } from './calls.ts'
import { assertInputIsBounded, assertQuoteFits, assertWithinLimits, type SwapLimits } from './checks/quote.ts'
import { type CheckContext, toTerms } from './checks/terms.ts'
import { PaymentUnknownError, type Submission, SwapRefusedError, TamperedOperationError } from './errors.ts'
import type { Builder, Family } from './families/family.ts'
import { families } from './families/registry.ts'
import { lockableUntil, type OpenSignatures } from './open-signatures.ts'
import { type PayProgress, pay } from './pay.ts'
import type { Pins } from './pins.ts'
import { toPlainRequest } from './request.ts'
import { nowSeconds, orAborted } from './retry.ts'
import type { AuthorizationFields, DepositPayment, SignatureLifetime, Signer, ToSign } from './signers.ts'
import { isGone } from './submission.ts'
import type { EndedSwap, WaitOptions } from './wait.ts'

/** The request of a quote; the wallet defaults to the signer's. */
export type SwapRequest = Omit<NamedQuoteRequest, 'walletAddress'> & { walletAddress?: string }

export type SwapProgress =
  /** `method`: how the input will come in, on an EVM chain; the amounts of the quote are those of this way. */
  | { step: 'quoted'; quote: QuoteReply; method?: OriginMethod | undefined }
  | { step: 'authorizing' }
  | { step: 'built'; build: Build }
  | { step: 'signing' }
  /**
   * Store the submission to learn its outcome after a crash. It can be used until `lockableUntil` (in
   * seconds), whatever the service reports: sign no other submission for the same swap before.
   */
  | { step: 'submitting'; submission: Submission; lockableUntil: number }
  | PayProgress
  | { step: 'status'; swap: StatusReply }
  | { step: 'requoting'; reason: Error }

/** One act of the wallet that the user may see first. All checks have passed. */
export type Approval =
  | { kind: 'authorization'; fields: AuthorizationFields }
  | {
      kind: 'operation'
      quote: QuoteReply
      /** On an EVM chain. */
      method: OriginMethod | undefined
      build: Build
      toSign: ToSign
    }

export type PrepareOptions = SwapLimits & {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: SwapProgress) => void) | undefined
  /** Called with every quote before anything is signed; any result but true ends the swap. */
  confirm?: ((quote: QuoteReply) => boolean | Promise<boolean>) | undefined
  /** Called before each act of the wallet. Unless it resolves, nothing is signed. */
  approve?: ((approval: Approval) => void | Promise<void>) | undefined
  /** How the input comes in. Default: the best way that the signer has. */
  method?: OriginMethod | undefined
}

/** A swap that was checked and signed, and not submitted: `client.pay(prepared, signer)` begins it. */
export type PreparedSwap = {
  /** In plain ids, with the signer's wallet. */
  request: QuoteRequest
  quote: QuoteReply
  /** On an EVM chain. */
  method: OriginMethod | undefined
  build: Build
  submission: Submission
  /** In seconds: the submission can be used until then, so sign no other one for the same swap before. */
  lockableUntil: number
  /** To be sent after the submission, where the input comes in by a transfer. */
  payment: DepositPayment | undefined
}

export type PrepareDeps = {
  calls: Omit<Calls, 'postOnce' | 'readOnce' | 'streamOnce'>
  pins: Pins
  openSignatures: OpenSignatures
  maxHoldSeconds: number
}

type Order = { request: QuoteRequest; signer: Signer; options: PrepareOptions; build: Builder }

// Quotes are valid for 30 s. A signer that was too slow three times will not be faster.
const MAX_REQUOTES = 3

/** Quotes, checks and signs. Refuses the same request while its signature can be used and its swap is not settled. */
export async function prepare(
  deps: PrepareDeps,
  asked: SwapRequest,
  signer: Signer,
  options: PrepareOptions,
): Promise<PreparedSwap> {
  const request = toRequest(asked, signer)
  assertInputIsBounded(request, options)
  await deps.pins.assertKnowable(request.originChain, families[signer.family])
  await deps.openSignatures.assertNone(request)
  const order = { request, signer, options, build: toBuilder(deps, request, signer, options) }
  for (let requotes = 0; ; requotes += 1) {
    try {
      return await prepareOnce(deps, order)
    } catch (error) {
      // Requoted as long as nothing was signed for the last quote.
      if (!isGone(error) || requotes >= MAX_REQUOTES) throw error
      options.onProgress?.({ step: 'requoting', reason: error as Error })
    }
  }
}

function toBuilder(
  { calls, pins }: PrepareDeps,
  { originChain: chainId }: QuoteRequest,
  signer: Signer,
  { onProgress, approve, signal }: PrepareOptions,
): Builder {
  const family = families[signer.family]
  return family.createBuilder({
    calls,
    signer,
    chainId,
    signal,
    getAccount: async (named) => (await pins.origin(chainId, family, { account: named })).account ?? '',
    async onSign(fields) {
      await approve?.({ kind: 'authorization', fields })
      signal?.throwIfAborted()
      onProgress?.({ step: 'authorizing' })
    },
  })
}

function toRequest(asked: SwapRequest, { address, family }: Signer): QuoteRequest {
  const request = toPlainRequest({ ...asked, walletAddress: asked.walletAddress ?? address })
  const { walletAddress } = request
  const { parseAddress } = families[family]
  if (parseAddress(walletAddress) !== parseAddress(address)) {
    const message = `The request is for ${walletAddress}, the signer is ${address}.`
    throw new SwapRefusedError('SIGNER', message)
  }
  return request
}

async function prepareOnce(deps: PrepareDeps, order: Order): Promise<PreparedSwap> {
  const { request, signer, options } = order
  const { onProgress, signal } = options
  const family = families[signer.family]
  const offered = await deps.calls.quote(request, { signal })
  const choice = { calls: deps.calls, request, quote: offered, signer, method: options.method, signal }
  const { chosen, quote, method } = await family.choose(choice)
  assertQuoteFits(request, quote, signer.family)
  onProgress?.({ step: 'quoted', quote, method })
  assertWithinLimits(quote, options)
  await assertConfirmed(quote, options)
  const build = await order.build(quote, chosen)
  onProgress?.({ step: 'built', build })
  const context = await toContext(deps, request, family, build)
  let claimed: number | undefined
  const onSign = async (toSign: ToSign, life: SignatureLifetime) => {
    await options.approve?.({ kind: 'operation', quote, method, build, toSign })
    signal?.throwIfAborted()
    // The user may have signed elsewhere in the meantime.
    await deps.openSignatures.claim(request, life)
    claimed = lockableUntil(life)
    signal?.throwIfAborted()
    if (!('payment' in toSign)) onProgress?.({ step: 'signing' })
  }
  const checked = { terms: toTerms(request, quote), context, method: chosen.method, onSign }
  const sign = async () => {
    try {
      const signed = await family.sign(build, signer, checked)
      signal?.throwIfAborted()
      return signed
    } catch (error) {
      // The wallet refused, or nobody waits for its signature: nothing that could be submitted is left.
      if (claimed !== undefined) deps.openSignatures.release(request, claimed)
      throw error
    }
  }
  const { life, submission, payment } = await orAborted(sign, signal)
  return { request, quote, method, build, submission, payment, lockableUntil: lockableUntil(life) }
}

async function assertConfirmed(quote: QuoteReply, { confirm, signal }: PrepareOptions): Promise<void> {
  if (!confirm) return
  const answer = await orAborted(() => confirm(quote), signal)
  if (answer !== true) throw new SwapRefusedError('DECLINED', 'The quote was not confirmed.')
}

/** The signed terms are compared with it, besides the request. */
export async function toContext(
  { pins, maxHoldSeconds }: Pick<PrepareDeps, 'pins' | 'maxHoldSeconds'>,
  { originChain, destinationChain }: QuoteRequest,
  family: Family,
  build: Build,
): Promise<CheckContext> {
  if (build.origin !== family.name)
    throw new TamperedOperationError([{ field: 'origin', expected: family.name, actual: build.origin }])
  return {
    nowSeconds: nowSeconds(),
    maxHoldSeconds,
    origin: await pins.origin(originChain, family, family.namedBy(build)),
    destination: await pins.known(destinationChain),
  }
}

export type SwapOptions = PrepareOptions & {
  /** Time to wait for the end after the submission. */
  timeoutMs?: number | undefined
}

type SwapDeps = PrepareDeps & {
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
  waitForSwap(swapId: string, options: WaitOptions): Promise<EndedSwap>
}

/** Quotes, checks, signs, submits and waits. Returns the swap at its end, whatever its status. */
export async function swap(
  deps: SwapDeps,
  asked: SwapRequest,
  signer: Signer,
  options: SwapOptions,
): Promise<EndedSwap> {
  const { onProgress, signal, timeoutMs } = options
  const prepared = await prepare(deps, asked, signer, options)
  const { submission, lockableUntil } = prepared
  onProgress?.({ step: 'submitting', submission, lockableUntil })
  // If the caller aborts here, the submission was not sent and remains the caller's.
  signal?.throwIfAborted()
  const { swapId } = await pay(deps, prepared, signer, options).catch((error) => {
    // The wallet may have sent it: the status of the swap tells.
    if (error instanceof PaymentUnknownError) return error
    throw error
  })
  const ended = await deps.waitForSwap(swapId, {
    signal,
    timeoutMs,
    onProgress: onProgress && ((read) => onProgress({ step: 'status', swap: read })),
  })
  if (ended.status === 'settled') deps.openSignatures.release(prepared.request, lockableUntil)
  return ended
}
