import { createHash } from 'node:crypto'
import { type X402Answer, X402Error, type X402Plan } from '@geoswap/sdk/x402'
import type { Side } from '@geoswap/wallet/catalog'
import { UserError } from '@geoswap/wallet/errors'
import { usualFamily } from '@geoswap/wallet/families/registry'
import { payRequest, type Shown } from '@geoswap/wallet/pay'
import { isLoopback } from '@geoswap/wallet/store/local-network'
import type { ChosenWallet } from '@geoswap/wallet/wallets'
import { type Call, choosePayer, type McpContext, type Opened } from './mcp-context.ts'
import { assertWithinCaps, formatUsd, parseCents, reasonsToAsk } from './rules.ts'
import type { PayInput } from './schemas.ts'

// Hosts give a call a minute, and a swap may come before.
const SELLER_MS = 30_000
const MAX_TEXT = 20_000
const MOVE_PERCENT = 1n

type Asked = { confirmationToken: string; expiresAt: string; reasons: string[] }

/** Requests a URL and pays for it within the rules. A payee that is no allowed recipient is always confirmed. */
export async function payUrl(mcp: McpContext, opened: Opened, input: PayInput, call: Call) {
  const { context, client } = opened
  if (isLoopback(input.url) && !context.settings.local)
    throw new UserError('INSECURE_URL', 'A model requests no address of this machine.')
  const evm = { chain: { family: usualFamily, name: 'EVM chains' } }
  let shown: Shown | undefined
  let asked: Asked | undefined
  const { url, body, from } = input
  const headers = body === undefined ? undefined : { 'content-type': 'application/json' }
  try {
    const answer = await payRequest(context, client, {
      request: { url, body, headers, method: body === undefined ? 'GET' : 'POST' },
      ...{ payer: choosePayer(mcp, evm, input.wallet), from, again: false, isInsecure: false },
      timeoutMs: SELLER_MS,
      chooseWallet: async (side) => findPayer(mcp, side, input.wallet),
      async approve(plan, words, id) {
        shown = words
        const judged = await judge(mcp, { plan, shown, input, call })
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
    return toResult(answer, shown)
  } catch (error) {
    if (!asked || !shown || !(error instanceof X402Error) || error.code !== 'X402_DECLINED') throw error
    return { outcome: 'confirmation_required' as const, ...shown, confirmation: asked }
  }
}

function findPayer(mcp: McpContext, { chain }: Side, named: string | undefined): ChosenWallet | undefined {
  const fitting = mcp.wallets.filter(({ family }) => family === chain.family)
  return fitting.find(({ name }) => name === named) ?? fitting[0]
}

type Question = { plan: X402Plan; shown: Shown; input: PayInput; call: Call }

/** True if the rules and, where they require it, the user agree; else the confirmation that is needed. */
async function judge(mcp: McpContext, { plan, shown, input, call }: Question): Promise<true | Asked> {
  const { cents, offer } = plan
  assertWithinCaps({ cents, spentCents: mcp.spending.spentCents() }, mcp.rules)
  assertWithinMaximum(cents, input.maxUsd)
  const isKnown = mcp.rules.recipients.has(offer.payTo)
  const reasons = [
    ...reasonsToAsk({ cents, hasHighImpact: false, isUnbounded: false }, mcp.rules),
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
  const act = `Pay ${shown.pays} (${worth}) to ${shown.payTo} for ${input.url}?`
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
    answer: { status, contentType, sellerSays: text.slice(0, MAX_TEXT), isCut: text.length > MAX_TEXT },
  }
}
