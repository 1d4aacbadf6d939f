import { encodePayment } from '@geoswap/protocol'
import {
  type AuthorizedPayment,
  type ExactPayment,
  NAMES_V1,
  type PaymentRequired,
  product,
  type StatusReply,
  type SubmitReply,
  type TransactionPayment,
  toChainRef,
  type X402Request,
  x402Discovery,
} from '@geoswap/wire'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { PayableOp } from '../../store/ops.ts'
import { findChain, toCaip2 } from '../../swap/catalog.ts'
import { type Offer, type OfferDeps, offer } from './offer.ts'
import { readPayment, toTokenSignature } from './payload.ts'

type Hex = `0x${string}`

export type X402Deps = OfferDeps & {
  /** The op that is paid at this address or has this hash, if it was offered to payers. */
  findOp(name: string): Promise<PayableOp | undefined>
  submit(op: PayableOp, signature: string): Promise<SubmitReply>
  /** The payment of the op with this name was taken. */
  closeOffer(name: string): void
  /** The status as JSON; if it is held, when the swap ends or the wait is over. */
  readStatus(swapId: string, read: { isHeld: boolean }): Promise<string>
}

export type X402Call = {
  request: X402Request
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Where the call came in, without its query. */
  url: string
  /** Where it came from. */
  address: string
}

export type X402Answer = { status: 200 | 202 | 402; headers: Record<string, string>; body: unknown }

/** Asks for a payment; with one, swaps by it, and answers when the swap has ended. */
export async function x402(deps: X402Deps, call: X402Call): Promise<X402Answer> {
  const payment = readPayment(call.headers)
  if (payment === undefined) return ask(deps, call, 'A payment is required: pay one of accepts')
  if ('field' in payment) throw invalidRequest(payment)
  const submitted = await ('transaction' in payment
    ? submitTransaction(deps, payment)
    : submit(deps, payment))
  if ('problem' in submitted) return ask(deps, call, submitted.problem)
  const status = await readEnd(deps, submitted.swapId)
  if (status.status === 'pending')
    return { status: 202, headers: { 'retry-after': '1' }, body: { ...status, statusUrl: call.url } }
  const headers = toSettlement(payment, submitted.payer, status)
  if (status.status === 'settled') return { status: 200, headers, body: status }
  const why = status.failure?.code ?? status.refund?.reason ?? ''
  const ended = toRequired(call, `The swap ${status.swapId} ended ${status.status}: ${why}`, [])
  return { ...ended, headers: { ...ended.headers, ...headers } }
}

/** Once the payment is taken, a refusal would hide its swap: with too many held reads, this one is not held. */
async function readEnd({ readStatus }: X402Deps, swapId: string): Promise<StatusReply> {
  const unheld = (error: unknown) => {
    if (!(error instanceof ServiceError)) throw error
    return readStatus(swapId, { isHeld: false })
  }
  return JSON.parse(await readStatus(swapId, { isHeld: true }).catch(unheld))
}

const ask = async (deps: X402Deps, call: X402Call, error: string): Promise<X402Answer> =>
  toRequired(call, error, await offer(deps, call.request))

function toRequired({ url }: X402Call, error: string, offers: readonly Offer[]): X402Answer {
  const accepts = offers.map(({ chain: _chain, ...requirements }) => requirements)
  const resource = { url, description: DESCRIPTION, mimeType: JSON_TYPE, serviceName: product.name }
  const required = { x402Version: 2, error, resource, accepts, extensions }
  const body: PaymentRequired = {
    x402Version: 1,
    error,
    accepts: offers.map((each) => toVersion1(each, url)),
  }
  return { status: 402, headers: { 'payment-required': toBase64(required) }, body }
}

const DESCRIPTION =
  'A swap across chains. payTo belongs to one operation: it delivers, or the payer is paid back.'

const JSON_TYPE = 'application/json'
const { extensions, outputSchema } = x402Discovery()

const nameOf = (chainId: number, network: string) => NAMES_V1[chainId] ?? network

function toVersion1({ chain, network, amount, ...same }: Offer, url: string) {
  return {
    ...same,
    network: nameOf(chain.chainId, network),
    maxAmountRequired: amount,
    resource: url,
    description: DESCRIPTION,
    mimeType: JSON_TYPE,
    outputSchema,
  }
}

/** Refusals of a payment that another payment may follow. Any other is of the swap. */
const RENEWED = ['INVALID_SIGNATURE', 'OPERATION_EXPIRED', 'INVALID_TOKEN', 'INSUFFICIENT_BALANCE']

type Submitted = (SubmitReply & { payer: string }) | { problem: string }

/** Submits the op that the payment is for: once, whatever else is paid for it. */
async function submit(
  deps: X402Deps,
  { signature, authorization, ...payment }: AuthorizedPayment,
): Promise<Submitted> {
  const op = await deps.findOp(authorization.to)
  if (!op) return { problem: 'This payment is to the address of no operation that can be paid' }
  const problem = findProblem(deps, op, { signature, authorization, ...payment })
  if (problem) return { problem }
  const { validAfter, validBefore, nonce } = authorization
  const paid = encodePayment({
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce as Hex,
    signature: toTokenSignature(signature) as Hex,
  })
  return renewing(deps, { op, name: authorization.to }, () => deps.submit(op, paid))
}

async function renewing(
  { closeOffer }: X402Deps,
  { op, name }: { op: PayableOp; name: string },
  submitting: () => Promise<SubmitReply>,
): Promise<Submitted> {
  try {
    const submitted = await submitting()
    closeOffer(name)
    return { ...submitted, payer: op.wallet }
  } catch (error) {
    if (!(error instanceof ServiceError) || !RENEWED.includes(error.code)) throw error
    return { problem: `${error.code}: the payment was not taken` }
  }
}

/** The payer's transaction names its op by the memo, and moves the input to the op's account alone. */
async function submitTransaction(
  deps: X402Deps,
  { transaction, network, accepted }: TransactionPayment,
): Promise<Submitted> {
  const names = Object.entries(NAMES_V1).find(([, name]) => name === network)
  const chain = findChain(deps.catalog, toChainRef(names?.[0] ?? network))
  if (!chain || !deps.transfers.takes(chain))
    return { problem: 'The payment is on a network that takes no transactions' }
  const { chainId } = chain
  const paid = await deps.transfers.read(chainId, transaction).catch((cause) => {
    const recovery = { retryAfterMs: 5_000 }
    throw new ServiceError('CHAIN_UNAVAILABLE', { details: { chainId }, recovery, cause })
  })
  if (!paid) return { problem: NO_PAYMENT }
  const op = await deps.findOp(paid.opHash)
  if (!op || op.originChain !== chainId)
    return { problem: 'The memo of this transaction names no operation that can be paid' }
  const { wallet, locker, inputToken, inputAmount, refundDeadline } = op
  if (paid.wallet !== wallet) return { problem: `The payer must be ${wallet}, as the operation says` }
  if (paid.inputAmount !== inputAmount || (accepted && accepted.amount !== inputAmount.toString()))
    return { problem: `The payment must be of ${inputAmount}, as the operation says` }
  if (paid.inputToken !== inputToken || (accepted && accepted.asset !== inputToken))
    return { problem: `The asset must be ${inputToken}` }
  if (paid.locker !== locker) return { problem: `The fee payer must be ${locker}, as extra says` }
  if (paid.refundDeadline !== refundDeadline) return { problem: 'The memo must be that of extra' }
  return renewing(deps, { op, name: paid.opHash }, () => deps.transfers.submit(op, paid))
}

const NO_PAYMENT =
  'The transaction must have a compute limit of at least 10,000 units, a price as in the market, TransferChecked ' +
  'from the associated account of its signer to that of payTo, and the memo of extra, and be signed by the payer'

// A payment that nobody took must not stay usable for long.
const LATEST_SECONDS = 3_600

/** How the payment differs from what was offered. */
function findProblem(
  { catalog, now }: X402Deps,
  op: PayableOp,
  { network, accepted, authorization }: AuthorizedPayment,
): string | undefined {
  const chain = catalog.chains.get(op.originChain)
  const caip2 = chain && toCaip2(chain)
  const isSame = (text: string, other: string) => text.toLowerCase() === other.toLowerCase()
  const amount = op.inputAmount.toString()
  if (caip2 === undefined || ![caip2, nameOf(op.originChain, caip2)].includes(network))
    return 'The payment is on another network than the operation'
  if (!isSame(authorization.from, op.wallet)) return `The payer must be ${op.wallet}, as the operation says`
  if (authorization.value !== amount || (accepted && accepted.amount !== amount))
    return `The payment must be of ${amount}, as the operation says`
  if (accepted && !isSame(accepted.asset, op.inputToken)) return `The asset must be ${op.inputToken}`
  if (accepted && !isSame(accepted.payTo, authorization.to)) return 'payTo is not where the payment goes'
  if (BigInt(authorization.validBefore) <= BigInt(op.opDeadline))
    return `validBefore must be later than ${op.opDeadline}, when the operation ends`
  if (BigInt(authorization.validBefore) > BigInt(op.opDeadline + LATEST_SECONDS))
    return `validBefore must be at most ${op.opDeadline + LATEST_SECONDS}`
  if (BigInt(authorization.validAfter) > BigInt(Math.floor(now() / 1_000)))
    return 'validAfter must be in the past'
  return undefined
}

function toSettlement({ version, network }: ExactPayment, payer: string, status: StatusReply) {
  const success = status.status === 'settled'
  const settlement = {
    success,
    transaction: status.originTxHash ?? '',
    network,
    payer,
    errorReason: success ? undefined : status.status,
  }
  return { [version === 1 ? 'x-payment-response' : 'payment-response']: toBase64(settlement) }
}

const toBase64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')
