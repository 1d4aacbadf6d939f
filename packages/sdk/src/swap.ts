import type { QuoteReply, QuoteRequest, StatusReply, SubmitReply } from '@geoswap/wire'
import { orAborted } from './abort.ts'
import { type Builder, createBuilder, isStale } from './authorize.ts'
import type { Build, Calls } from './calls.ts'
import { checkGeoOp } from './checks/geo-op.ts'
import { assertQuoteFits, assertWithinLimits, type SwapLimits } from './checks/quote.ts'
import { checkSolanaBuild } from './checks/solana-build.ts'
import { type CheckContext, type KnownContracts, type Terms, toTerms } from './checks/terms.ts'
import { SwapRefusedError, TamperedOperationError } from './errors.ts'
import type { Signer } from './signers.ts'
import { isGone, type Submission } from './submission.ts'
import type { EndedSwap, WaitOptions } from './wait.ts'

/** A quote's request; the wallet is the signer's, so it need not be named. */
export type SwapRequest = Omit<QuoteRequest, 'walletAddress'> & { walletAddress?: string }

export type SwapProgress =
  | { step: 'quoted'; quote: QuoteReply }
  | { step: 'authorizing' }
  | { step: 'built'; build: Build }
  | { step: 'signing' }
  /** Sent from here on: keep the submission to find out what became of it after a crash. */
  | { step: 'submitting'; submission: Submission }
  | { step: 'submitted'; swapId: string }
  | { step: 'status'; swap: StatusReply }
  | { step: 'requoting'; reason: Error }

export type SwapOptions = SwapLimits & {
  signal?: AbortSignal | undefined
  onProgress?: ((progress: SwapProgress) => void) | undefined
  /** Asked for every quote before anything is signed; anything but true ends the swap. */
  confirm?: ((quote: QuoteReply) => boolean | Promise<boolean>) | undefined
  /** How long to wait for the end after the submission. */
  timeoutMs?: number | undefined
}

export type SwapDeps = {
  calls: Omit<Calls, 'postOnce' | 'readOnce' | 'streamOnce'>
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
  waitForSwap(swapId: string, options: WaitOptions): Promise<EndedSwap>
  contracts: Readonly<Record<number, KnownContracts>>
  maxHoldSeconds: number
}

type Order = { request: QuoteRequest; signer: Signer; options: SwapOptions; build: Builder }

// Quotes live 30 s: who needs longer than this to sign will not be quicker the next time.
const MAX_REQUOTES = 3

/** Quote, check, sign, submit, wait. Returns the swap at its end, however it ended. */
export async function swap(
  deps: SwapDeps,
  asked: SwapRequest,
  signer: Signer,
  options: SwapOptions,
): Promise<EndedSwap> {
  const { onProgress, signal, timeoutMs } = options
  const request = toRequest(asked, signer)
  const build = createBuilder(
    {
      calls: deps.calls,
      known: deps.contracts[request.originChain] ?? {},
      onSign: () => onProgress?.({ step: 'authorizing' }),
    },
    { signer, chainId: request.originChain, signal },
  )
  const { swapId } = await submitSwap(deps, { request, signer, options, build })
  onProgress?.({ step: 'submitted', swapId })
  return deps.waitForSwap(swapId, {
    ...{ signal, timeoutMs },
    onProgress: onProgress && ((read) => onProgress({ step: 'status', swap: read })),
  })
}

function toRequest(asked: SwapRequest, { address, family }: Signer): QuoteRequest {
  const { walletAddress = address } = asked
  const form = (text: string) => (family === 'evm' ? text.toLowerCase() : text)
  if (form(walletAddress) !== form(address)) {
    const message = `The request is for ${walletAddress}, the signer is ${address}.`
    throw new SwapRefusedError('SIGNER', message)
  }
  return { ...asked, walletAddress }
}

/** Starts over with a fresh quote only where the service has said that the last one is no swap. */
async function submitSwap(deps: SwapDeps, order: Order): Promise<SubmitReply> {
  const { onProgress, signal } = order.options
  for (let requotes = 0; ; requotes += 1) {
    let isSent = false
    try {
      const submission = await prepare(deps, order)
      onProgress?.({ step: 'submitting', submission })
      isSent = true
      return await deps.submit(submission, { signal })
    } catch (error) {
      // A builder has done what it can about a stale authorization; at the submission nobody has.
      const isOver = isGone(error) || (isSent && isStale(error))
      if (!isOver || requotes >= MAX_REQUOTES) throw error
      onProgress?.({ step: 'requoting', reason: error as Error })
    }
  }
}

async function prepare(deps: SwapDeps, order: Order): Promise<Submission> {
  const { request, signer, options } = order
  const { onProgress, signal } = options
  const quote = await deps.calls.quote(request, { signal })
  assertQuoteFits(request, quote, signer.family)
  onProgress?.({ step: 'quoted', quote })
  assertWithinLimits(quote, options)
  await assertConfirmed(quote, options)
  const build = await order.build(quote)
  onProgress?.({ step: 'built', build })
  const onSign = () => onProgress?.({ step: 'signing' })
  const checked = { terms: toTerms(request, quote), context: toContext(deps, request), onSign }
  return orAborted(() => checkAndSign(build, signer, checked), signal)
}

async function assertConfirmed(quote: QuoteReply, { confirm, signal }: SwapOptions): Promise<void> {
  if (!confirm) return
  const answer = await orAborted(() => confirm(quote), signal)
  if (answer !== true) throw new SwapRefusedError('DECLINED', 'The quote was not confirmed.')
}

function toContext({ contracts, maxHoldSeconds }: SwapDeps, request: QuoteRequest): CheckContext {
  return {
    nowSeconds: Math.floor(Date.now() / 1_000),
    maxHoldSeconds,
    origin: contracts[request.originChain] ?? {},
    destination: contracts[request.destinationChain] ?? {},
  }
}

type Check = { terms: Terms; context: CheckContext; onSign(): void }

/** The only place that asks for a signature over money, and only over what the checks returned. */
async function checkAndSign(
  build: Build,
  signer: Signer,
  { terms, context, onSign }: Check,
): Promise<Submission> {
  const { geoOpToken } = build
  if (build.origin === 'evm' && signer.family === 'evm') {
    const hash = checkGeoOp(build, terms, context)
    onSign()
    return { geoOpToken, signature: await signer.signHash(hash) }
  }
  if (build.origin === 'solana' && signer.family === 'solana') {
    const transaction = await checkSolanaBuild(build, terms, context)
    onSign()
    return { geoOpToken, signedTransaction: await signer.signTransaction(transaction) }
  }
  throw new TamperedOperationError([{ field: 'origin', expected: signer.family, actual: build.origin }])
}
