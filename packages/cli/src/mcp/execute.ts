import { createHash } from 'node:crypto'
import type { EndedSwap, QuoteReply, StatusReply, SwapLimits } from '@geoswap/sdk'
import type { Context } from '../context.ts'
import { CliError } from '../errors.ts'
import { assertReadable, type ReadyOrder, resolveOrder } from '../order.ts'
import { type Attempt, keyOf, type Order, standingOf, swapIdOf } from '../store/journal.ts'
import { claimOrder, toEnd } from '../swap/claim.ts'
import { followAttempt } from '../swap/follow.ts'
import { hasHighImpact, isUnbounded, performSwap } from '../swap/perform.ts'
import type { Terms } from './confirmations.ts'
import { type Call, choosePayer, type Desk, type Opened } from './desk.ts'
import { assertRecipient, assertWithinCaps, reasonsToAsk } from './judge.ts'
import type { ExecuteInput } from './schemas.ts'
import { formatUsd, worthOf } from './usd.ts'
import { quoteText, say, toMoney, toOrderView, toQuoteView } from './views.ts'

export async function executeSwap(desk: Desk, opened: Opened, input: ExecuteInput, call: Call) {
  const { context, client } = opened
  const words = {
    ...input,
    slippage: input.slippageBps?.toString(),
    maxEta: input.maxEtaSeconds?.toString(),
  }
  const ready = await resolveOrder(context, client, words, async (side) =>
    choosePayer(desk, side, input.wallet),
  )
  const { order } = ready
  assertRecipient(order.recipient, desk.rules)
  assertReadable(context, ready)

  const last = context.journal.findLast(order)
  // The same submission is at most one swap, and its value is counted already.
  if (last && standingOf(last, context.isAttended) === 'unknown')
    return inTime(desk, opened, last, followAttempt(context, client, last))

  const rpcUrl = context.settings.rpcUrls[ready.from.chain.chainId]
  const { attempt } = await claimOrder(context, client, { order, isNew: false, rpcUrl })
  context.seen.attempt = attempt
  const answer = await decide(desk, opened, ready, { input, call }).catch((error: unknown) => {
    give(context, attempt)
    throw error
  })
  if ('limits' in answer)
    return inTime(desk, opened, attempt, perform(desk, opened, { ready, attempt, answer }))
  give(context, attempt)
  return answer
}

/** Whether the rules and, where they ask for it, the user agree to what this would be now. */
async function decide(desk: Desk, { context, client }: Opened, ready: ReadyOrder, { input, call }: Asked) {
  const asked = { ...ready.request, walletAddress: ready.wallet.address }
  const quote = await client.quote(asked, { signal: context.interrupts.signal })
  const facts = factsOf(quote, ready)
  assertWithinCaps({ ...facts, spentCents: desk.spending.spentCents() }, desk.rules)
  return confirm(desk, { ready, quote, reasons: reasonsToAsk(facts, desk.rules) }, { input, call })
}

export function factsOf(quote: QuoteReply, ready: ReadyOrder) {
  return {
    cents: worthOf(quote),
    hasHighImpact: hasHighImpact(quote, ready),
    isUnbounded: isUnbounded(ready),
  }
}

/** Nothing was begun: the order is free for the next one who asks. */
function give({ journal, seen }: Context, attempt: Attempt): void {
  seen.attempt = journal.record(attempt, toEnd(attempt, 'notSubmitted'))
}

type Asked = { input: ExecuteInput; call: Call }
type Question = { ready: ReadyOrder; quote: QuoteReply; reasons: string[] }
type Answer = { isConfirmed: boolean; limits: SwapLimits }

async function confirm(desk: Desk, { ready, quote, reasons }: Question, { input, call }: Asked) {
  const { order, limits } = ready
  const key = bindingOf(ready)
  // A token that is shown where none is needed binds all the same: the order is what was confirmed.
  if (input.confirmationToken !== undefined)
    return confirmed(limits, desk.confirmations.take(input.confirmationToken, key))
  if (reasons.length === 0) return { isConfirmed: false, limits }

  const terms = termsOf(quote, order)
  const view = toQuoteView(quote, order)
  const maxPay = toMoney(terms.maxInput.toString(), order.from)
  const minReceive = toMoney(terms.minOutput.toString(), order.to)
  if (call.ask) {
    const bounds = `At most ${say(maxPay)} is paid for at least ${say(minReceive)}.`
    const question = `Swap ${quoteText(view)}, to ${order.recipient}? ${bounds} Asked because ${reasons.join('; ')}.`
    if (await call.ask(question)) return confirmed(limits, terms)
    throw new CliError('DECLINED', 'The user did not confirm the swap.', {
      advice: 'Do not try it again unasked.',
    })
  }
  const { token, expiresAt } = desk.confirmations.ask(key, terms)
  const confirmation = { token, expiresAt: new Date(expiresAt).toISOString(), reasons, maxPay, minReceive }
  return { outcome: 'confirmation_required' as const, quote: view, confirmation }
}

/** Everything that decides what leaves the wallet and where it goes. */
function bindingOf({ order, request, limits }: ReadyOrder): string {
  const { minOutput = '', maxInput = '' } = limits
  const words = [keyOf(order), request.amount, request.slippageBps ?? '', `${minOutput}`, `${maxInput}`]
  return createHash('sha256').update(JSON.stringify(words)).digest('hex')
}

// Prices move while somebody reads. What is shown is the worst of it, and that is what holds.
const MOVE_PERCENT = 1n

/** The side that the order fixes stays as it is. */
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

type Performing = { ready: ReadyOrder; attempt: Attempt; answer: Answer }

function perform(desk: Desk, { context, client }: Opened, { ready, attempt, answer }: Performing) {
  const { isConfirmed, limits } = answer
  return performSwap(
    context,
    client,
    { ...ready, limits },
    {
      ...{ attempt, raw: false, acceptsImpact: isConfirmed },
      // The quote that is signed is another one than that which was looked at.
      approve(quote) {
        const cents = worthOf(quote)
        const [reason] = isConfirmed ? [] : reasonsToAsk(factsOf(quote, ready), desk.rules)
        if (reason !== undefined) {
          const message = `The price has changed, and the swap has to be confirmed: ${reason}.`
          throw new CliError('NEEDS_CONFIRMATION', message, { advice: 'Call execute_swap again.' })
        }
        desk.spending.add(attempt.id, cents ?? 0n, (spentCents) =>
          assertWithinCaps({ cents, spentCents }, desk.rules),
        )
        desk.log(
          `${attempt.id} ${routeOf(ready)} ${cents === undefined ? 'value not known' : formatUsd(cents)}`,
        )
      },
    },
  )
}

function routeOf({ order: { from, to, recipient } }: ReadyOrder): string {
  return `${from.chain}:${from.symbol} ${to.chain}:${to.symbol} to ${recipient}`
}

/** The end of the swap; or, when that takes longer than a caller waits, how it is doing. It goes on by itself. */
async function inTime(desk: Desk, opened: Opened, { id, order }: Attempt, running: Promise<EndedSwap>) {
  const { context, client, submitted } = opened
  let isWaitedFor = true
  const over = running.then(
    () => undefined,
    ({ message }: Error) =>
      isWaitedFor || desk.log(`${context.seen.attempt?.id} is not followed any more: ${message}`),
  )
  desk.running.add(id)
  void over.then(() => desk.running.delete(id))
  const known = Promise.race([submitted, over])
  desk.submitting.add(known)
  void known.then(() => desk.submitting.delete(known))

  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => void known.then(() => resolve(undefined)), desk.rules.waitMs)
  })
  const ended = await Promise.race([running, late]).finally(() => clearTimeout(timer))
  isWaitedFor = false
  const swap: StatusReply = ended ?? (await client.status(getSwapId(context)))
  desk.log(`${swap.swapId} ${swap.status}`)
  return { outcome: swap.status, swap: toOrderView(swap, order) }
}

function getSwapId({ seen }: Context): string {
  const swapId = seen.attempt && swapIdOf(seen.attempt)
  if (swapId === undefined) throw new Error('A swap that was submitted has no id')
  return swapId
}
