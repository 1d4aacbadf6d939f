import type {
  BuildGeoOpReply,
  NamedQuoteRequest,
  OriginMethod,
  QuoteReply,
  QuoteRequest,
  StatusReply,
  TypedData,
} from '@geoswap/wire'
import type { Address, Hex } from 'viem'
import { type Builder, type Chosen, createBuilder } from './authorize.ts'
import type { Build, Calls } from './calls.ts'
import { checkGeoOp } from './checks/geo-op.ts'
import { checkPayment } from './checks/payment.ts'
import { assertInputIsBounded, assertQuoteFits, assertWithinLimits, type SwapLimits } from './checks/quote.ts'
import { readGeoOp } from './checks/read-fields.ts'
import { checkSolanaBuild } from './checks/solana-build.ts'
import { readSolanaInput } from './checks/solana-input.ts'
import { type CheckContext, type Terms, toTerms } from './checks/terms.ts'
import { type Submission, SwapRefusedError, TamperedOperationError } from './errors.ts'
import { bestMethod, quoteBy, toPlainRequest } from './methods.ts'
import { lockableUntil, nowSeconds, type OpenSignatures, type SignatureLifetime } from './open-signatures.ts'
import type { Pins } from './pins.ts'
import { orAborted } from './retry.ts'
import type { AuthorizationFields, DepositPayment, EvmSigner, Signer } from './signers.ts'
import { isGone } from './submission.ts'

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
  | { step: 'submitted'; swapId: string }
  /** The signer is asked for a transfer to the op's own address. */
  | { step: 'paying'; payment: DepositPayment }
  | { step: 'status'; swap: StatusReply }
  | { step: 'requoting'; reason: Error }

/**
 * What the wallet is asked for, computed here: typed data, or the hash where the signer signs no typed data; a transfer
 * of its own; or a transaction in base64.
 */
export type ToSign =
  | { hash: Hex; typedData?: TypedData | undefined }
  | { payment: DepositPayment }
  | { transaction: string }

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

/** A swap that was checked and signed, and not submitted: `client.submit(prepared.submission)` begins it. */
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
type Signed = { submission: Submission; life: SignatureLifetime; payment?: DepositPayment | undefined }

// Quotes are valid for 30 s. A signer that was too slow three times will not be faster.
const MAX_REQUOTES = 3

/** Quotes, checks and signs. The same request is refused while its signature can be used and its swap is not settled. */
export async function prepare(
  deps: PrepareDeps,
  asked: SwapRequest,
  signer: Signer,
  options: PrepareOptions,
): Promise<PreparedSwap> {
  const request = toRequest(asked, signer)
  assertInputIsBounded(request, options)
  await deps.pins.assertKnowable(request.originChain, signer.family)
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
  const deps = {
    calls,
    getAccount: async (named: unknown) =>
      (await pins.origin(chainId, 'evm', { account: named })).account ?? '',
    async onSign(fields: AuthorizationFields) {
      await approve?.({ kind: 'authorization', fields })
      signal?.throwIfAborted()
      onProgress?.({ step: 'authorizing' })
    },
  }
  return createBuilder(deps, { signer, chainId, signal })
}

function toRequest(asked: SwapRequest, { address, family }: Signer): QuoteRequest {
  const request = toPlainRequest({ ...asked, walletAddress: asked.walletAddress ?? address })
  const { walletAddress } = request
  const form = (text: string) => (family === 'evm' ? text.toLowerCase() : text)
  if (form(walletAddress) !== form(address)) {
    const message = `The request is for ${walletAddress}, the signer is ${address}.`
    throw new SwapRefusedError('SIGNER', message)
  }
  return request
}

async function prepareOnce(deps: PrepareDeps, order: Order): Promise<PreparedSwap> {
  const { request, signer, options } = order
  const { onProgress, signal } = options
  const offered = await deps.calls.quote(request, { signal })
  const chosen = await choose(deps, order, offered)
  const isEvm = signer.family === 'evm'
  const quote = isEvm ? quoteBy(offered, chosen.method) : offered
  const method = isEvm ? chosen.method : undefined
  assertQuoteFits(request, quote, signer.family)
  onProgress?.({ step: 'quoted', quote, method })
  assertWithinLimits(quote, options)
  await assertConfirmed(quote, options)
  const build = await order.build(quote, chosen)
  onProgress?.({ step: 'built', build })
  const context = await toContext(deps, request, build)
  const onSign = async (toSign: ToSign) => {
    await options.approve?.({ kind: 'operation', quote, method, build, toSign })
    signal?.throwIfAborted()
    // The user may have signed elsewhere in the meantime.
    await deps.openSignatures.assertNone(request)
    if (!('payment' in toSign)) onProgress?.({ step: 'signing' })
  }
  const checked = { terms: toTerms(request, quote), context, method: chosen.method, onSign }
  const { life, submission, payment } = await orAborted(() => checkAndSign(build, signer, checked), signal)
  deps.openSignatures.keep(request, life)
  return { request, quote, method, build, submission, payment, lockableUntil: lockableUntil(life) }
}

/** Reads the wallet's delegation only if there is a choice. */
async function choose({ calls }: PrepareDeps, order: Order, { originMethods }: QuoteReply): Promise<Chosen> {
  const { request, signer, options } = order
  if (options.method) return { method: options.method }
  const methods = originMethods?.map(({ method }) => method) ?? []
  if (signer.family !== 'evm' || methods.length < 2) return { method: 'delegation' }
  const { originChain: chainId, walletAddress } = request
  const delegation = await calls.delegation({ chainId, walletAddress }, { signal: options.signal })
  return { method: bestMethod(signer, methods, delegation), delegation }
}

async function assertConfirmed(quote: QuoteReply, { confirm, signal }: PrepareOptions): Promise<void> {
  if (!confirm) return
  const answer = await orAborted(() => confirm(quote), signal)
  if (answer !== true) throw new SwapRefusedError('DECLINED', 'The quote was not confirmed.')
}

/** What the signed terms are compared with, besides the request. */
export async function toContext(
  { pins, maxHoldSeconds }: Pick<PrepareDeps, 'pins' | 'maxHoldSeconds'>,
  { originChain, destinationChain }: QuoteRequest,
  build: Build,
): Promise<CheckContext> {
  const named = build.origin === 'evm' ? { escrow: build.operation?.domain?.['verifyingContract'] } : {}
  return {
    nowSeconds: nowSeconds(),
    maxHoldSeconds,
    origin: await pins.origin(originChain, build.origin, named),
    destination: await pins.known(destinationChain),
  }
}

type Check = {
  terms: Terms
  context: CheckContext
  method: OriginMethod
  onSign(toSign: ToSign): Promise<void>
}

/** The only place that requests a signature for funds, and only for the result of the checks. */
async function checkAndSign(build: Build, signer: Signer, check: Check): Promise<Signed> {
  const { terms, context, onSign } = check
  const { geoOpToken } = build
  const { originChain: chainId } = terms
  if (build.origin === 'evm' && signer.family === 'evm') return checkAndSignOp(build, signer, check)
  if (build.origin === 'solana' && signer.family === 'solana') {
    const transaction = await checkSolanaBuild(build, terms, context)
    const blockhash = readSolanaInput(transaction)?.blockhash ?? ''
    await onSign({ transaction })
    const submission = { geoOpToken, signedTransaction: await signer.signTransaction(transaction) }
    return { submission, life: { family: 'solana', chainId, blockhash, signedAt: nowSeconds() } }
  }
  throw new TamperedOperationError([{ field: 'origin', expected: signer.family, actual: build.origin }])
}

async function checkAndSignOp(
  build: BuildGeoOpReply,
  signer: EvmSigner,
  { terms, context, method, onSign }: Check,
): Promise<Signed> {
  const { geoOpToken } = build
  const { originChain: chainId } = terms
  const hash = checkGeoOp(build, terms, context)
  const op = readGeoOp(build.operation.message)
  const escrow = context.origin.escrow as Address
  const act = checkPayment(build, method, { chainId, escrow, hash, op })
  const life: SignatureLifetime = { family: 'evm', chainId, opDeadline: Number(op.opDeadline) }
  if ('to' in act) {
    if (!signer.sendPayment) throw cannot(method)
    const payment = { chainId, ...act }
    await onSign({ payment })
    return { submission: { geoOpToken }, life, payment }
  }
  if (method !== 'delegation' && !signer.signTypedData) throw cannot(method)
  const { signTypedData } = signer
  await onSign({ hash, typedData: signTypedData && act.typedData })
  const signature = await (signer.signTypedData?.(act.typedData) ?? signer.signHash(hash))
  return { submission: { geoOpToken, signature }, life }
}

function cannot(method: OriginMethod): SwapRefusedError {
  return new SwapRefusedError('SIGNER', `This signer cannot pay by ${method}.`)
}
