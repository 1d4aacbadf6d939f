import type { OriginMethod, QuoteReply, TokenEntry } from '@geoswap/sdk'
import { formatUnits, formatUsd, readUsd, type Unit } from '../amounts.ts'
import type { BatchState } from '../families/batch.ts'
import type { FamilyName } from '../families/family.ts'
import { families } from '../families/registry.ts'

type FeeKind = QuoteReply['fees'][number]['kind']
type Route = { origin: string; destination: string; quote?: QuoteReply | undefined }

/** The purpose of a fee and its chain. */
export function feeName(kind: FeeKind, { origin, destination, quote }: Route): string {
  if (kind === 'serviceFee') return serviceFee(quote)
  if (kind === 'riskPremium') return `For the risk of paying before ${origin} is final`
  if (kind === 'rebalancing') return 'For what the service holds there'
  if (kind === 'integratorFee') return 'Fee of this application'
  if (kind === 'originNetwork') return `Network costs on ${origin}`
  if (kind === 'deliveryNetwork') return `Network costs on ${destination}`
  if (kind === 'accountRent') return `New token account on ${destination}`
  return 'Spread and price impact'
}

function serviceFee(quote: QuoteReply | undefined): string {
  if (!quote) return 'Service fee'
  const fee = `Service fee, ${Number((quote.feeBps / 100).toFixed(6))} %`
  return quote.feeDiscount
    ? `${fee} (${quote.feeDiscount.tier}, ${quote.feeDiscount.discountPercent} % off)`
    : fee
}

/** A time of a quote, in a unit that people count in. */
export function etaWords(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Number((minutes / 60).toFixed(1))} h`
}

export type SpeedChoice = {
  text: string
  isChosen: boolean
  /** In the request it chooses this speed; undefined for the cheaper one. */
  maxEtaSeconds: number | undefined
}

/** The two speeds of a quote with time and output, the cheaper first; none if there is no choice. */
export function speedChoices({ speed, speeds = [] }: QuoteReply, output: Unit): SpeedChoice[] {
  const final = speeds.find((each) => each.speed === 'final')
  const fast = speeds.find((each) => each.speed === 'fast')
  if (!final || !fast || fast.etaSeconds >= final.etaSeconds) return []
  return [final, fast].map((each) => ({
    text: `${formatUnits(each.outputAmount, output)} in about ${etaWords(each.etaSeconds)}`,
    isChosen: each.speed === (speed ?? 'final'),
    maxEtaSeconds: each === fast ? between(fast.etaSeconds, final.etaSeconds) : undefined,
  }))
}

// The most that a request takes.
const MAX_ETA_SECONDS = 86_400

/** In the middle, so that it chooses the faster speed also when both times change a little. */
const between = (fast: number, final: number): number =>
  Math.min(MAX_ETA_SECONDS, Math.floor((fast + final) / 2))

/** Says that the price is that of the slower speed although the faster one was chosen; else undefined. */
export function otherSpeed({ speed }: Pick<QuoteReply, 'speed'>, maxEtaSeconds: number | undefined) {
  if (maxEtaSeconds === undefined || speed !== 'final') return undefined
  return 'The slower one, not the one that you chose'
}

/** Says why the slower speed waits, and what the faster one costs. */
export function speedNote({ speeds = [] }: QuoteReply, { origin, input }: { origin: string; input: Unit }) {
  const { riskPremium = '0', riskPremiumUsd } = speeds.find(({ speed }) => speed === 'fast') ?? {}
  const value = readUsd(riskPremiumUsd)
  const usd = value === undefined ? '' : ` (${formatUsd(value)})`
  return (
    `The slower one waits until ${origin} can no longer undo your payment. The faster one does not wait: for ` +
    `that risk the service takes ${formatUnits(riskPremium, input)}${usd}, which you get back if it waits after all.`
  )
}

/** Says what is missing in the wallet; undefined if it holds the amount, or if its balance is not known. */
export function shortfall(amount: bigint, balance: bigint | undefined, unit: Unit): string | undefined {
  if (balance === undefined || balance >= amount) return undefined
  return `Not enough ${unit.symbol}: the wallet has ${formatUnits(balance, unit)}.`
}

/** A wallet that sends a transaction also needs some coin for gas: how much, the wallet says itself. */
export function gasShortfall(
  amount: bigint,
  coins: bigint | undefined,
  input: Pick<TokenEntry, 'native'>,
  { symbol }: { symbol: string },
): string | undefined {
  if (coins === undefined || coins > (input.native ? amount : 0n)) return undefined
  return input.native
    ? `Leave some ${symbol} in the wallet: its transaction needs gas.`
    : `Get some ${symbol} for gas: the wallet sends a transaction.`
}

/** Explains what the wallet shows in place of these terms, in one sentence; undefined for the usual way. */
export function wayTerms(method: OriginMethod | undefined, symbol: string): string | undefined {
  const paysOnly = 'so it pays for them alone.'
  if (method === 'authorization')
    return `Your wallet shows a transfer of exactly this ${symbol}: its nonce is the hash of the terms, ${paysOnly}`
  if (method === 'permit')
    return `Your wallet shows a permit for exactly this ${symbol}: its spender belongs to the terms, ${paysOnly}`
  if (method === 'transfer') return `${sends(symbol)} ${JUDGED}`
  if (method === 'deposit') return `${sends(symbol)} What comes later, or cannot be delivered, comes back.`
  return undefined
}

const sends = (symbol: string) =>
  `Your wallet sends exactly this ${symbol} in one ordinary transaction, to an address that belongs to these ` +
  'terms. It pays the gas of that transaction.'
const JUDGED =
  'The price is judged when it arrives: you receive at most the amount above, and at least the guaranteed ' +
  'minimum. What is not swapped, since the price fell below that or it came too late, comes back to your wallet.'

const UNKNOWN = 'its answer is not known.'

type Paying = {
  /** Undefined if the wallet that pays is not connected. */
  wallet: string | undefined
  isAsking: boolean
  wasAsked: boolean
  isSent: boolean
  isLate: boolean
  /** The message of an error, or that the wallet was told no. */
  problem: string | undefined
  /** Where its batch stands; undefined if it sends a transaction. */
  batch: BatchState | undefined
}

/** Where a payment stands that the wallet has taken. */
function sentWords(wallet: string | undefined, batch: BatchState | undefined): string {
  const name = wallet ?? 'The wallet'
  if (batch === undefined) return `${name} has sent it. It is on its way into a block.`
  if (batch === 'confirmed') return `${name} has sent it. It is in a block.`
  if (batch === 'failed')
    return (
      `${name} says that its transaction failed, so it paid nothing. The page does not ask it again. If the ` +
      'transaction still comes in time, the swap goes on by itself. If later, all of it comes back.'
    )
  const given = `It was given to ${wallet ?? 'the wallet'}`
  return batch === 'pending' ? `${given}, which has not finished it yet.` : `${given}.`
}

/** Where the payment of a swap stands, and whether the wallet can be asked for it. */
export function paymentWords({ wallet, isAsking, wasAsked, isSent, isLate, problem, batch }: Paying) {
  const name = wallet ?? 'The wallet'
  if (isSent) return { words: sentWords(wallet, batch), canAsk: false }
  if (isAsking) return { words: `Confirm the transaction in ${wallet ?? 'the wallet'}.`, canAsk: false }
  if (wasAsked)
    return {
      words:
        `${name} was asked for this transaction, and ${problem ? `answered: ${problem}` : UNKNOWN} If it sends it ` +
        'in time, the swap goes on by itself. If later, all of it comes back. The page does not ask twice.',
      canAsk: false,
    }
  if (isLate) return { words: 'It is too late for this transaction: nothing was sent.', canAsk: false }
  if (!wallet) return { words: 'Connect the wallet that pays. It was not asked yet.', canAsk: false }
  return { words: problem ?? `${name} was not asked for it yet.`, canAsk: true }
}

/** The terms of a refund, also without the service. */
export function refundTerms(family: FamilyName, symbol: string): string {
  const back = `If it cannot be delivered, all of your ${symbol} comes back to the wallet that paid.`
  const alone = 'If the service disappears, anyone can send it back after a deadline that you sign.'
  return [back, alone, families[family].words.trust].join(' ').trim()
}

const REFUND_REASONS: Readonly<Record<string, string>> = {
  NO_LIQUIDITY: 'The service no longer had enough of the token to deliver.',
  PRICE_MOVED: 'The price moved beyond what you signed.',
  RECIPIENT_INVALID: 'The recipient cannot take the token.',
  DESTINATION_UNAVAILABLE: 'The destination chain did not work.',
  DELIVERY_EXPIRED: 'It could not be delivered before the deadline that you signed.',
  ADDRESS_BLOCKED: 'The service does not serve one of the addresses.',
}

export function refundReason(reason: string): string {
  return REFUND_REASONS[reason] ?? reason
}
