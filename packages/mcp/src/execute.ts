import { createHash } from 'node:crypto'
import type { EndedSwap, QuoteReply, StatusReply, SwapLimits } from '@geoswap/sdk'
import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { assertReadable, type ReadyOrder } from '@geoswap/wallet/order'
import { type Attempt, keyOf, type Order, standingOf, swapIdOf } from '@geoswap/wallet/store/journal'
import { claimOrder, toEnd } from '@geoswap/wallet/swap/claim'
import { openDeposit } from '@geoswap/wallet/swap/deposit'
import { followAttempt } from '@geoswap/wallet/swap/follow'
import { performSwap } from '@geoswap/wallet/swap/perform'
import { hasHighImpact, isUnbounded, quoteOrder } from '@geoswap/wallet/swap/quote'
import type { Terms } from './confirmations.ts'
import { type Call, type McpContext, type Opened, readOrder } from './mcp-context.ts'
import { assertRecipient, assertWithinCaps, formatUsd, reasonsToAsk, valueCentsOf } from './rules.ts'
import type { ExecuteInput, OrderInput } from './schemas.ts'
import { quoteText, say, toMoney, toOrderView, toQuoteView } from './views.ts'

export async function executeSwap(mcp: McpContext, opened: Opened, input: ExecuteInput, call: Call) {
  const { context, client } = opened
  const ready = await readOrder(mcp, opened, input)
  const { order } = ready
  assertRecipient(order.recipient, mcp.rules)
  assertReadable(context, ready)

  const last = context.journal.findLast(order)
  // The same submission creates at most one swap, and its value is already counted.
  if (last && standingOf(last, context.isAttended) === 'unknown')
    return inTime(mcp, opened, last, followAttempt(context, client, last))

  const rpcUrl = context.settings.rpcUrls[ready.from.chain.chainId]
  const { attempt } = await claimOrder(context, client, { order, isNew: false, rpcUrl })
  const answer = await decide(mcp, opened, ready, { input, call }).catch((error: unknown) => {
    releaseOrder(context, attempt)
    throw error
  })
  if ('limits' in answer)
    return inTime(
      mcp,
      opened,
      attempt,
      perform(mcp, opened, { ready, attempt, answer, method: input.method }),
    )
  releaseOrder(context, attempt)
  return answer
}

/** Decides whether the rules and, if they require it, the user agree to the current quote. */
async function decide(
  mcp: McpContext,
  { context, client }: Opened,
  ready: ReadyOrder,
  { input, call }: Asked,
) {
  const quote = await quoteOrder(context, client, ready)
  const facts = factsOf(quote, ready)
  assertWithinCaps({ ...facts, spentCents: mcp.spending.spentCents() }, mcp.rules)
  return confirm(mcp, { ready, quote, reasons: reasonsToAsk(facts, mcp.rules) }, { input, call })
}

export function factsOf(quote: QuoteReply, ready: ReadyOrder) {
  return {
    cents: valueCentsOf(quote),
    hasHighImpact: hasHighImpact(quote, ready),
    isUnbounded: isUnbounded(ready),
  }
}

/** Nothing was started: release the order. */
function releaseOrder({ journal, seen }: Context, attempt: Attempt): void {
  seen.attempt = journal.record(attempt, toEnd(attempt, 'notSubmitted'))
}

type Asked = { input: ExecuteInput; call: Call }
type Question = { ready: ReadyOrder; quote: QuoteReply; reasons: string[] }
type Answer = { isConfirmed: boolean; limits: SwapLimits }

async function confirm(mcp: McpContext, { ready, quote, reasons }: Question, { input, call }: Asked) {
  const { order, limits } = ready
  const key = bindingOf(ready)
  // A token is binding even where none is needed: the order must be the confirmed one.
  if (input.confirmationToken !== undefined)
    return confirmed(limits, mcp.confirmations.take(input.confirmationToken, key))
  if (reasons.length === 0) return { isConfirmed: false, limits }

  const terms = termsOf(quote, order)
  const view = toQuoteView(quote, order)
  const maxPay = toMoney(terms.maxInput.toString(), order.from)
  const minReceive = toMoney(terms.minOutput.toString(), order.to)
  const bounds = `At most ${say(maxPay, 'up')} is paid for at least ${say(minReceive)}.`
  const question = `Swap ${quoteText(view)}, to ${order.recipient}? ${bounds} Asked because ${reasons.join('; ')}.`
  if (call.ask) {
    if (await call.ask(question)) return confirmed(limits, terms)
    throw new UserError('DECLINED', 'The user did not confirm the swap.', {
      advice: 'Do not retry unless the user asks for it.',
    })
  }
  const { token: confirmationToken, expiresAt: end } = mcp.confirmations.ask(key, terms, question)
  const expiresAt = new Date(end).toISOString()
  const confirmation = { confirmationToken, expiresAt, reasons, maxPay, minReceive }
  return { outcome: 'confirmation_required' as const, quote: view, confirmation }
}

/** All fields that decide what leaves the wallet and where it goes. */
function bindingOf({ order, request, limits }: ReadyOrder): string {
  const { minOutput = '', maxInput = '' } = limits
  const words = [keyOf(order), request.amount, request.slippageBps ?? '', `${minOutput}`, `${maxInput}`]
  return createHash('sha256').update(JSON.stringify(words)).digest('hex')
}

// Prices move while the user reads. The worst accepted price is shown, and it is the limit.
const MOVE_PERCENT = 1n

/** The side that the order fixes does not move. */
function termsOf(quote: QuoteReply, { tradeType }: Order): Terms {
  const input = BigInt(quote.input)
  const minOutput = BigInt(quote.minOutput)
  if (tradeType === 'exactOutput') return { maxInput: input + (input * MOVE_PERCENT) / 100n, minOutput }
  return { maxInput: input, minOutput: minOutput - (minOutput * MOVE_PERCENT) / 100n }
}

function confirmed({ minOutput, maxInput, ...rest }: SwapLimits, terms: Terms): Answer {
  const limits = {
    ...rest,
    minOutput: minOutput !== undefined && minOutput > terms.minOutput ? minOutput : terms.minOutput,
    maxInput: maxInput !== undefined && maxInput < terms.maxInput ? maxInput : terms.maxInput,
  }
  return { isConfirmed: true, limits }
}

type Performing = {
  ready: ReadyOrder
  attempt: Attempt
  answer: Answer
  method: ExecuteInput['method']
}

function perform(mcp: McpContext, { context, client }: Opened, performing: Performing) {
  const { ready, attempt, answer, method } = performing
  const { isConfirmed, limits } = answer
  return performSwap(
    context,
    client,
    { ...ready, limits },
    {
      attempt,
      method,
      raw: false,
      acceptsImpact: isConfirmed,
      // The signed quote is newer than the one that was shown.
      approve(quote) {
        const cents = valueCentsOf(quote)
        const [reason] = isConfirmed ? [] : reasonsToAsk(factsOf(quote, ready), mcp.rules)
        if (reason !== undefined) {
          const message = `The price has changed, and the swap must be confirmed: ${reason}.`
          throw new UserError('NEEDS_CONFIRMATION', message, { advice: 'Call execute_swap again.' })
        }
        mcp.spending.add(attempt.id, cents ?? 0n, (spentCents) =>
          assertWithinCaps({ cents, spentCents }, mcp.rules),
        )
        mcp.log(
          `${attempt.id} ${routeOf(ready)} ${cents === undefined ? 'value not known' : formatUsd(cents)}`,
        )
      },
    },
  )
}

function routeOf({ order: { from, to, recipient } }: ReadyOrder): string {
  return `${from.chain}:${from.symbol} ${to.chain}:${to.symbol} to ${recipient}`
}

/**
 * Returns the end of the swap, or its current status if the caller's wait time is over. The swap continues.
 */
async function inTime(mcp: McpContext, opened: Opened, { id, order }: Attempt, running: Promise<EndedSwap>) {
  const { context, client, submitted } = opened
  let isWaitedFor = true
  const over = running.then(
    () => undefined,
    ({ message }: Error) =>
      isWaitedFor || mcp.log(`${context.seen.attempt?.id} is no longer followed: ${message}`),
  )
  mcp.running.add(id)
  void over.then(() => mcp.running.delete(id))
  const known = Promise.race([submitted, over])
  mcp.submitting.add(known)
  void known.then(() => mcp.submitting.delete(known))

  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => void known.then(() => resolve(undefined)), mcp.rules.waitMs)
  })
  const ended = await Promise.race([running, late]).finally(() => clearTimeout(timer))
  isWaitedFor = false
  const swap: StatusReply = ended ?? (await client.status(getSwapId(context)))
  mcp.log(`${swap.swapId} ${swap.status}`)
  return { outcome: swap.status, swap: toOrderView(swap, order) }
}

function getSwapId({ seen }: Context): string {
  const swapId = seen.attempt && swapIdOf(seen.attempt)
  if (swapId === undefined) throw new Error('A swap that was submitted has no id')
  return swapId
}

/** Opens a swap that somebody pays by a plain transfer. Nothing leaves a wallet of the user by it. */
export async function openAddress(mcp: McpContext, opened: Opened, input: OrderInput) {
  const { context, client } = opened
  const ready = await readOrder(mcp, opened, input)
  const { order } = ready
  assertRecipient(order.recipient, mcp.rules)
  assertReadable(context, ready)
  const quote = await quoteOrder(context, client, ready)
  assertWithinCaps({ ...factsOf(quote, ready), spentCents: mcp.spending.spentCents() }, mcp.rules)
  const { deposit } = await openDeposit(context, client, ready)
  const { swapId, depositAddress, amount, until } = deposit
  mcp.log(`${swapId} waits for a deposit at ${depositAddress}`)
  return {
    swapId,
    depositAddress,
    send: toMoney(amount, order.from),
    until,
    quote: toQuoteView(deposit.quote, order),
  }
}
