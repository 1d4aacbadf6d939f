import type { BuildGeoOpReply, NamedQuoteRequest, QuoteReply, SubmitReply } from '@geoswap/wire'
import type { Calls } from './calls.ts'
import { checkGeoOp } from './checks/geo-op.ts'
import { checkPayment } from './checks/payment.ts'
import { assertInputIsBounded, assertQuoteFits, assertWithinLimits, type SwapLimits } from './checks/quote.ts'
import { readGeoOp } from './checks/read-fields.ts'
import { toTerms } from './checks/terms.ts'
import { type Submission, TamperedOperationError } from './errors.ts'
import { evm } from './families/evm.ts'
import { quoteBy } from './methods.ts'
import type { Pins } from './pins.ts'
import { toPlainRequest } from './request.ts'
import { toContext } from './swap.ts'

/** A swap that waits for a plain transfer to an address of its own. */
export type Deposit = {
  swapId: string
  /** Send exactly `amount` of `token` here, on the origin chain, from any wallet or exchange. */
  depositAddress: string
  token: string
  amount: string
  /** The transfer should be on the chain by then; a later one goes back to the wallet. */
  until: string
  quote: QuoteReply
  /** Keep it: with this and a node, `geoswap recover` sends back an amount that was not swapped. */
  operation: BuildGeoOpReply['operation']
}

type Deps = {
  calls: Pick<Calls, 'quote' | 'build'>
  submit(submission: Submission, options: { signal?: AbortSignal | undefined }): Promise<SubmitReply>
  pins: Pins
  maxHoldSeconds: number
}

export type DepositOptions = SwapLimits & { signal?: AbortSignal | undefined }

/**
 * Opens a swap that somebody pays by a transfer. The wallet of the request gets back what is not swapped, so it must
 * be the owner's own on the origin chain. The address is computed here, from terms that were checked.
 */
export async function openDeposit(
  deps: Deps,
  asked: NamedQuoteRequest,
  options: DepositOptions,
): Promise<Deposit> {
  const { signal } = options
  const request = toPlainRequest(asked)
  assertInputIsBounded(request, options)
  await deps.pins.assertKnowable(request.originChain, evm)
  const quote = quoteBy(await deps.calls.quote(request, { signal }), 'deposit')
  assertQuoteFits(request, quote, evm.name)
  assertWithinLimits(quote, options)
  const build = await deps.calls.build(quote, { method: 'deposit', signal })
  if (build.origin !== 'evm')
    throw new TamperedOperationError([{ field: 'origin', expected: 'evm', actual: build.origin }])
  const context = await toContext(deps, request, evm, build)
  const hash = checkGeoOp(build, toTerms(request, quote), context)
  const checked = { chainId: request.originChain, escrow: context.origin.escrow as `0x${string}`, hash }
  const payment = checkPayment(build, 'deposit', { ...checked, op: readGeoOp(build.operation.message) })
  if (!('to' in payment)) throw new TypeError('A deposit is not signed')
  const { swapId } = await deps.submit({ geoOpToken: build.geoOpToken }, { signal })
  return {
    swapId,
    quote,
    operation: build.operation,
    depositAddress: payment.to,
    token: payment.token,
    amount: payment.amount.toString(),
    until: build.depositUntil ?? build.expiresAt,
  }
}
