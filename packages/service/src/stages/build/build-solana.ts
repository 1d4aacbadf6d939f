import type { BuildSolanaRequest, BuildSolanaTxReply } from '@geoswap/wire'
import type { Heads, InputBuilder, Payer, PaymentOffer } from '../../chains/chain.ts'
import { invalidRequest, ServiceError } from '../../errors.ts'
import type { CatalogChain } from '../../swap/catalog.ts'
import type { Quote } from '../../swap/quote.ts'
import { isPayment, type WayName } from '../../swap/swap.ts'
import { readHolder, readOrUnavailable } from './delegation.ts'
import { amountWriter, hasSwap, insufficientBalance, type StoreDeps, storeOnce } from './store-op.ts'

type BuildSolanaDeps = StoreDeps & {
  /** Undefined on a chain where the wallet signs no transaction. */
  builderOf(chainId: number): InputBuilder | undefined
  /** The heads of a chain, if they are at most two seconds old. */
  recentHeadsOf(chainId: number): Heads | undefined
  openQuote(accountId: string, token: string): Quote
  sealInput(accountId: string, input: SealedInput): string
  now(): number
}

/** The content of a sealed op token: the built transaction's message hash and its last valid block height. */
export type SealedInput = {
  opId: string
  chainId: number
  messageHash: string
  lastValid: string
  expiresAt: number
}

/**
 * Turns a live quote into the transaction the wallet signs: the same op each time. Only a repeated build asks a node
 * for a newer blockhash.
 */
export async function buildSolanaTx(
  deps: BuildSolanaDeps,
  accountId: string,
  { geoQuoteToken }: BuildSolanaRequest,
): Promise<BuildSolanaTxReply> {
  const { quote, origin, builder, op, input } = await buildOp(deps, accountId, {
    geoQuoteToken,
    method: 'transaction',
  })
  const built = await readOrUnavailable(origin, builder.build(input))
  const expiresAt = Math.min(op.expiresAt.getTime(), deps.now() + built.lifeMs)
  const sealed = {
    opId: op.id,
    chainId: quote.originChain,
    expiresAt,
    messageHash: built.messageHash,
    lastValid: String(built.lastValid),
  }
  return {
    unsignedTransaction: built.unsignedTransaction,
    geoOpToken: deps.sealInput(accountId, sealed),
    expiresAt: new Date(expiresAt).toISOString(),
    externalId: quote.externalId,
    // The op's id is the hash of the delivery, so the wallet can verify what the input pays for.
    operation: { ...built.operation, delivery: op.terms },
  }
}

/** Turns a live quote into the terms by which a payer of x402 makes the transaction itself. */
export async function offerSolana(
  deps: BuildSolanaDeps,
  accountId: string,
  geoQuoteToken: string,
): Promise<PaymentOffer & { opHash: string; expiresAt: Date; asset: string }> {
  const asked = { geoQuoteToken, method: 'payment' } as const
  const { origin, builder, op, input } = await buildOp(deps, accountId, asked)
  const offered = await readOrUnavailable(origin, builder.offer(input))
  const operation = { ...offered.operation, delivery: op.terms }
  return { ...offered, operation, opHash: op.hash, expiresAt: op.expiresAt, asset: input.token }
}

type Asked = { geoQuoteToken: string; method: WayName }

async function buildOp(deps: BuildSolanaDeps, accountId: string, { geoQuoteToken, method }: Asked) {
  const quote = deps.openQuote(accountId, geoQuoteToken)
  const origin = deps.catalog.chains.get(quote.originChain)
  const builder = origin && deps.builderOf(quote.originChain)
  if (!origin || !builder) throw new ServiceError('INVALID_TOKEN')
  if (quote.expiresAt <= deps.now()) throw new ServiceError('QUOTE_EXPIRED')
  if (isPayment({ method }) && quote.inputToken === origin.native.address)
    throw invalidRequest({
      field: 'inputToken',
      message: 'must be a token: a payment is never of native coin',
    })

  const { wallet, inputToken: token, amountIn: amount } = quote
  const payer = await readHolder(origin, amount, () => builder.readPayer({ wallet, token }))
  // A payer of x402 may swap to the input first. The submission judges whether it holds it.
  const isShort = isPayment({ method }) && payer.balance < amount && !payer.isFrozen
  const refusal = isShort ? undefined : refusalOf(origin, quote, payer)
  if (refusal && !(await hasSwap(deps.pool, quote))) throw refusal

  const op = await storeOnce(deps, accountId, quote, payer, { method })
  const { hash: opHash, locker, refundDeadline } = op
  const heads = op.isNew ? deps.recentHeadsOf(quote.originChain) : undefined
  const input = { opHash, wallet, token, amount, locker, refundDeadline, heads }
  return { quote, origin, builder, op, input }
}

/** Returns the reason why this wallet cannot pay: too low a balance, a frozen account, or a remainder below rent. */
function refusalOf(
  origin: CatalogChain,
  quote: Quote,
  { balance, isFrozen, minimum }: Payer,
): ServiceError | undefined {
  if (isFrozen) {
    return new ServiceError('INSUFFICIENT_BALANCE', {
      message: "The wallet's account of the input token is frozen and cannot pay.",
      recovery: { token: quote.inputToken, chainId: quote.originChain },
    })
  }
  const left = balance - quote.amountIn
  if (left < 0n) return insufficientBalance(origin, quote, balance)
  if (left === 0n || left >= minimum) return undefined
  const show = amountWriter(origin, quote)
  const details = {
    required: quote.amountIn.toString(),
    balance: balance.toString(),
    minimumLeft: minimum.toString(),
  }
  return new ServiceError('INSUFFICIENT_BALANCE', {
    message:
      `The swap would leave ${show(left)} in the wallet, and the chain keeps no account with less than ` +
      `${show(minimum)}. Swap all of ${show(balance)}, or leave at least ${show(minimum)}.`,
    details,
    recovery: { token: quote.inputToken, chainId: quote.originChain, ...details },
  })
}
