import { createHash } from 'node:crypto'
import { type X402Answer, X402Error, type X402Plan, x402KeyOf, x402TermsOf } from '@geoswap/sdk/x402'
import type { Side } from '@geoswap/wallet/catalog'
import { UserError } from '@geoswap/wallet/errors'
import { payRequest, type Shown } from '@geoswap/wallet/pay'
import { isLoopback } from '@geoswap/wallet/store/local-network'
import type { ChosenWallet } from '@geoswap/wallet/wallets'
import { type Call, choosePayers, type McpContext, type Opened } from './mcp-context.ts'
import { createPublicFetch } from './public-fetch.ts'
import { assertWithinCaps, formatUsd, losesMuch, parseCents, reasonsToAsk } from './rules.ts'
import type { PayInput } from './schemas.ts'

// Hosts give a call a minute, and a swap may come before.
const SELLER_MS = 30_000
const MAX_TEXT = 20_000
const MOVE_PERCENT = 1n
const UNHEARD_MS = 10 * 60_000

type Asked = { confirmationToken: string; expiresAt: string; reasons: string[] }

/** Requests a URL and pays for it within the rules. A payee that is no allowed recipient is always confirmed. */
export async function payUrl(mcp: McpContext, opened: Opened, input: PayInput, call: Call) {
  const { context, client } = opened
  let shown: Shown | undefined
  let asked: Asked | undefined
  let heard: ReturnType<typeof takeUnheard>
  const { body, from } = input
  const url = readUrl(input.url)
  const isOwnNetwork = context.settings.local !== undefined && isLoopback(url)
  const headers = body === undefined ? undefined : { 'content-type': 'application/json' }
  const request = { url, body, headers, method: body === undefined ? 'GET' : 'POST' }
  const payers = choosePayers(mcp, input.wallet)
  const keys = payers.map(({ address }) => x402KeyOf(request, address))
  const unheard = takeUnheard(mcp, keys)
  if (unheard) return unheard
  try {
    const answer = await payRequest(context, client, {
      ...{ request, payers, from, again: false, isInsecure: false, timeoutMs: SELLER_MS, left: call.signal },
      fetch: isOwnNetwork ? undefined : createPublicFetch(),
      chooseWallet: async (side) => findPayer(mcp, side, input.wallet),
      async approve(plan, words, id) {
        shown = words
        // The earlier call may have ended since this one began: nothing else is paid then.
        heard = takeUnheard(mcp, keys)
        if (heard) return false
        const judged = await judge(mcp, { id, plan, shown, input: { ...input, url }, call })
        if (judged !== true) {
          asked = judged
          return false
        }
        const { cents } = plan
        mcp.spending.add(id, cents ?? 0n, (spentCents) => assertWithinCaps({ cents, spentCents }, mcp.rules))
        mcp.log(`${id} ${words.pays} to ${words.payTo} for ${new URL(url).origin}`)
        return true
      },
    })
    const result = toResult(answer, shown)
    if (call.signal.aborted && answer.payment)
      keepUnheard(mcp, x402KeyOf(request, x402TermsOf(answer.payment).payer), result)
    return result
  } catch (error) {
    if (heard) return heard
    // Of the fetch, which refused the address.
    if (error instanceof X402Error && error.cause instanceof UserError) throw error.cause
    if (!asked || !shown || !(error instanceof X402Error) || error.code !== 'X402_DECLINED') throw error
    return { outcome: 'confirmation_required' as const, ...shown, confirmation: asked }
  }
}

function readUrl(text: string): string {
  if (URL.canParse(text)) return new URL(text).href
  throw new UserError('USAGE', 'url is no address.')
}

type Result = ReturnType<typeof toResult>

function keepUnheard({ unheard, log }: McpContext, key: string, result: Result): void {
  unheard.set(key, { result, until: Date.now() + UNHEARD_MS })
  log('a payment was answered after its call had ended: the same call gets the answer')
}

/** The answer that an earlier call paid for and did not hear. */
function takeUnheard({ unheard }: McpContext, keys: readonly string[]): Result | undefined {
  for (const [old, { until }] of unheard) if (until <= Date.now()) unheard.delete(old)
  const key = keys.find((each) => unheard.has(each)) ?? ''
  const kept = unheard.get(key)
  unheard.delete(key)
  return kept && { ...(kept.result as Result), wasPaidBefore: true }
}

function findPayer(mcp: McpContext, { chain }: Side, named: string | undefined): ChosenWallet | undefined {
  const fitting = mcp.wallets.filter(({ family }) => family === chain.family)
  return fitting.find(({ name }) => name === named) ?? fitting[0]
}

type Question = { id: string; plan: X402Plan; shown: Shown; input: PayInput; call: Call }

/** True if the rules and, where they require it, the user agree; else the confirmation that is needed. */
async function judge(mcp: McpContext, { id, plan, shown, input, call }: Question): Promise<true | Asked> {
  const { cents, offer } = plan
  assertWithinCaps({ cents, spentCents: mcp.spending.spentCents(id) }, mcp.rules)
  assertWithinMaximum(cents, input.maxUsd)
  const isKnown = mcp.rules.recipients.has(offer.payTo)
  const reasons = [
    ...reasonsToAsk({ cents, hasHighImpact: losesMuch(plan.swap), isUnbounded: false }, mcp.rules),
    ...(isKnown ? [] : [`it pays ${offer.payTo}, which is no allowed recipient`]),
  ]
  const binding = bindingOf(plan, input)
  const spent = BigInt(plan.swap?.quote.input ?? offer.amount)
  if (input.confirmationToken !== undefined) {
    const { maxInput } = mcp.confirmations.take(input.confirmationToken, binding)
    if (spent <= maxInput) return true
    throw new UserError('CONFIRMATION_INVALID', 'The payment costs more than was confirmed.', {
      advice: 'Call pay_x402 without it to get another one, and ask the user again.',
    })
  }
  if (reasons.length === 0) return true
  const worth = cents === undefined ? 'value not known' : formatUsd(cents)
  const cost = plan.swap ? `${shown.pays} (${worth}) for ${shown.price}` : `${shown.price} (${worth})`
  const act = `Pay ${cost} to ${shown.payTo} for ${input.url}?`
  const question = `${act} Asked because ${reasons.join('; ')}.`
  if (call.ask) {
    if (await call.ask(question)) return true
    throw new UserError('DECLINED', 'The user did not confirm the payment.', {
      advice: 'Do not retry unless the user asks for it.',
    })
  }
  const terms = { maxInput: spent + (spent * MOVE_PERCENT) / 100n, minOutput: offer.amount }
  const { token: confirmationToken, expiresAt: end } = mcp.confirmations.ask(binding, terms, question)
  return { confirmationToken, expiresAt: new Date(end).toISOString(), reasons }
}

function assertWithinMaximum(cents: bigint | undefined, maxUsd: string | undefined): void {
  if (maxUsd === undefined) return
  const most = parseCents(maxUsd)
  if (most === undefined) throw new UserError('BAD_AMOUNT', `${maxUsd} is no amount of dollars.`)
  if (cents !== undefined && cents <= most) return
  const worth = cents === undefined ? 'of a value that is not known' : `worth ${formatUsd(cents)}`
  throw new UserError('SWAP_CAP', `The payment is ${worth}, and maxUsd allows ${formatUsd(most)}.`)
}

/** All fields that decide what leaves the wallet and where it goes. */
function bindingOf({ offer, payer, swap }: X402Plan, { url, body = '' }: PayInput): string {
  const { chainId, asset, payTo, amount } = offer
  const source = swap && [swap.source.chainId, swap.source.token, swap.source.wallet]
  const words = [url, body, payer, chainId, asset, payTo, amount.toString(), source]
  return createHash('sha256').update(JSON.stringify(words)).digest('hex')
}

/** The seller's text is for the model to read, and stays data. */
function toResult(
  { status, headers, body, payment, transaction, swap }: X402Answer,
  shown: Shown | undefined,
) {
  const contentType = headers.get('content-type') ?? ''
  const isText = contentType === '' || /^(text\/|application\/([\w.]+\+)?(json|xml))/i.test(contentType)
  const text = isText ? new TextDecoder().decode(body) : `${body.length} bytes that are no text`
  return {
    outcome: payment ? ('paid' as const) : ('free' as const),
    ...(payment ? shown : undefined),
    transaction,
    swapId: swap?.swapId,
    wasPaidBefore: false,
    answer: { status, contentType, sellerSays: text.slice(0, MAX_TEXT), isCut: text.length > MAX_TEXT },
  }
}
