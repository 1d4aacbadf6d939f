import type {
  BuildGeoOpReply,
  NamedQuoteRequest,
  OriginMethod,
  QuoteReply,
  QuoteRequest,
  StatusReply,
  SubmitReply,
} from '@geoswap/wire'
import type { Address } from 'viem'
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
import type { DepositPayment, EvmSigner, Signer } from './signers.ts'
import { isGone } from './submission.ts'
import type { EndedSwap, WaitOptions } from './wait.ts'

/** The request of a quote; the wallet defaults to the signer's. */
export type SwapRequest = Omit<NamedQuoteRequest, 'walletAddress'> & { walletAddress?: string }

export type SwapProgress =
  /** `method`: how the input will come in, on an EVM chain; the amounts of the quote are those of this way. */
  | { step: 'quoted'; quote: QuoteReply; method?: OriginMethod }
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

export type SwapOptions = SwapLimits & {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: SwapProgress) => void) | undefined
  /** Called with every quote before anything is signed; any result but true ends the swap. */
  confirm?: ((quote: QuoteReply) => boolean | Promise<boolean>) | undefined
  /** How the input comes in. Default: the best way that the signer has. */
  method?: OriginMethod | undefined
  /** Time to wait for the end after the submission. */
  timeoutMs?: number | undefined
}

type SwapDeps = {
  calls: Omit<Calls, 'postOnce' | 'readOnce' | 'streamOnce'>
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
  waitForSwap(swapId: string, options: WaitOptions): Promise<EndedSwap>
  pins: Pins
  openSignatures: OpenSignatures
  maxHoldSeconds: number
}

type Order = { request: QuoteRequest; signer: Signer; options: SwapOptions; build: Builder }
type Signed = { submission: Submission; life: SignatureLifetime; payment?: DepositPayment }

// Quotes are valid for 30 s. A signer that was too slow three times will not be faster.
const MAX_REQUOTES = 3

/** Quotes, checks, signs, submits and waits. Returns the swap at its end, whatever its status. */
export async function swap(
  deps: SwapDeps,
  asked: SwapRequest,
  signer: Signer,
  options: SwapOptions,
): Promise<EndedSwap> {
  const request = toRequest(asked, signer)
  assertInputIsBounded(request, options)
  await deps.pins.assertKnowable(request.originChain, signer.family)
  await deps.openSignatures.assertNone(request)
  const order = { request, signer, options, build: toBuilder(deps, request, signer, options) }
  const signed = await prepareSwap(deps, order)
  deps.openSignatures.keep(request, signed.life)
  announce(options, signed)
  const ended = await submitAndWait(deps, signer, options, signed)
  if (ended.status === 'settled') deps.openSignatures.release(request)
  return ended
}

function toBuilder(
  { calls, pins }: SwapDeps,
  { originChain: chainId }: QuoteRequest,
  signer: Signer,
  { onProgress, signal }: SwapOptions,
): Builder {
  const deps = {
    calls,
    getAccount: async (named: unknown) =>
      (await pins.origin(chainId, 'evm', { account: named })).account ?? '',
    onSign: () => onProgress?.({ step: 'authorizing' }),
  }
  return createBuilder(deps, { signer, chainId, signal })
}

/** If the caller aborts here, the submission was not sent and remains the caller's. */
function announce({ onProgress, signal }: SwapOptions, { submission, life }: Signed): void {
  onProgress?.({ step: 'submitting', submission, lockableUntil: lockableUntil(life) })
  signal?.throwIfAborted()
}

async function submitAndWait(
  { submit, waitForSwap }: SwapDeps,
  signer: Signer,
  { onProgress, signal, timeoutMs }: SwapOptions,
  { submission, payment }: Signed,
): Promise<EndedSwap> {
  const { swapId } = await submit(submission, { signal })
  onProgress?.({ step: 'submitted', swapId })
  if (payment && signer.family === 'evm') {
    onProgress?.({ step: 'paying', payment })
    await orAborted(async () => signer.sendPayment?.(payment), signal)
  }
  return waitForSwap(swapId, {
    signal,
    timeoutMs,
    onProgress: onProgress && ((read) => onProgress({ step: 'status', swap: read })),
  })
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

/** Requotes as long as nothing was signed for the last quote. A signature is made only once. */
async function prepareSwap(deps: SwapDeps, order: Order): Promise<Signed> {
  for (let requotes = 0; ; requotes += 1) {
    try {
      return await prepare(deps, order)
    } catch (error) {
      if (!isGone(error) || requotes >= MAX_REQUOTES) throw error
      order.options.onProgress?.({ step: 'requoting', reason: error as Error })
    }
  }
}

async function prepare(deps: SwapDeps, order: Order): Promise<Signed> {
  const { request, signer, options } = order
  const { onProgress, signal } = options
  const offered = await deps.calls.quote(request, { signal })
  const chosen = await choose(deps, order, offered)
  const quote = signer.family === 'evm' ? quoteBy(offered, chosen.method) : offered
  assertQuoteFits(request, quote, signer.family)
  onProgress?.({ step: 'quoted', quote, ...(signer.family === 'evm' && { method: chosen.method }) })
  assertWithinLimits(quote, options)
  await assertConfirmed(quote, options)
  const build = await order.build(quote, chosen)
  onProgress?.({ step: 'built', build })
  const onSign = () => onProgress?.({ step: 'signing' })
  const context = await toContext(deps, request, build)
  const checked = { terms: toTerms(request, quote), context, method: chosen.method, onSign }
  return orAborted(() => checkAndSign(build, signer, checked), signal)
}

/** Reads the wallet's delegation only if there is a choice. */
async function choose({ calls }: SwapDeps, order: Order, { originMethods }: QuoteReply): Promise<Chosen> {
  const { request, signer, options } = order
  if (options.method) return { method: options.method }
  const methods = originMethods?.map(({ method }) => method) ?? []
  if (signer.family !== 'evm' || methods.length < 2) return { method: 'delegation' }
  const { originChain: chainId, walletAddress } = request
  const delegation = await calls.delegation({ chainId, walletAddress }, { signal: options.signal })
  return { method: bestMethod(signer, methods, delegation), delegation }
}

async function assertConfirmed(quote: QuoteReply, { confirm, signal }: SwapOptions): Promise<void> {
  if (!confirm) return
  const answer = await orAborted(() => confirm(quote), signal)
  if (answer !== true) throw new SwapRefusedError('DECLINED', 'The quote was not confirmed.')
}

async function toContext(
  { pins, maxHoldSeconds }: SwapDeps,
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

type Check = { terms: Terms; context: CheckContext; method: OriginMethod; onSign(): void }

/** The only place that requests a signature for funds, and only for the result of the checks. */
async function checkAndSign(build: Build, signer: Signer, check: Check): Promise<Signed> {
  const { terms, context, onSign } = check
  const { geoOpToken } = build
  const { originChain: chainId } = terms
  if (build.origin === 'evm' && signer.family === 'evm') return checkAndSignOp(build, signer, check)
  if (build.origin === 'solana' && signer.family === 'solana') {
    const transaction = await checkSolanaBuild(build, terms, context)
    const blockhash = readSolanaInput(transaction)?.blockhash ?? ''
    onSign()
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
  const payment = checkPayment(build, method, { chainId, escrow, hash, op })
  const life: SignatureLifetime = { family: 'evm', chainId, opDeadline: Number(op.opDeadline) }
  if ('to' in payment) {
    if (!signer.sendPayment) throw cannot(method)
    return { submission: { geoOpToken }, life, payment: { chainId, ...payment } }
  }
  if (method !== 'delegation' && !signer.signTypedData) throw cannot(method)
  onSign()
  const signature = await (signer.signTypedData?.(payment.typedData) ?? signer.signHash(hash))
  return { submission: { geoOpToken, signature }, life }
}

function cannot(method: OriginMethod): SwapRefusedError {
  return new SwapRefusedError('SIGNER', `This signer cannot pay by ${method}.`)
}
