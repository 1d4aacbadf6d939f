import { type Static, Type } from 'typebox'
import { FAMILIES } from './caip.ts'
import { expecting } from './expected.ts'
import {
  Address,
  AMOUNT,
  Amount,
  ChainRef,
  ExternalId,
  OriginMethod,
  oneOf,
  SealedToken,
  strictObject,
  Time,
  Token,
  Usd,
} from './schema.ts'

export const MAX_SLIPPAGE_BPS = 5_000
export const MAX_ETA_SECONDS = 86_400
/** One percent. */
export const MAX_INTEGRATOR_CENTI_BPS = 10_000

export const TRADE_TYPES = ['exactInput', 'exactOutput'] as const
export const FEE_KINDS = [
  'serviceFee',
  'originNetwork',
  'deliveryNetwork',
  'accountRent',
  'priceImpact',
  'integratorFee',
  'rebalancing',
  'riskPremium',
] as const

export const QuoteRequest = strictObject({
  originChain: ChainRef,
  destinationChain: ChainRef,
  inputToken: Token,
  outputToken: Token,
  amount: Type.Unsafe<string>({
    ...Amount,
    pattern: '^(0|[1-9][0-9]{0,77}|max)$',
    ...expecting(`${AMOUNT}, or "max"`),
    description:
      "Integer in the token's smallest unit, as a decimal string; or max, with exactInput: the whole balance.",
  }),
  walletAddress: Address,
  recipient: Type.Optional(
    Type.Unsafe<string>({
      ...Address,
      description: 'Default: the wallet itself when both chains are of one family; required otherwise.',
    }),
  ),
  slippageBps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SLIPPAGE_BPS,
      ...expecting(`a whole number from 1 to ${MAX_SLIPPAGE_BPS}, in hundredths of a percent, such as 50`),
      description: 'Default 50 between equal assets or USD stables, else 300.',
    }),
  ),
  maxEtaSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_ETA_SECONDS,
      ...expecting(`a whole number of seconds from 1 to ${MAX_ETA_SECONDS}, such as 60`),
      description:
        'The longest time that the swap may take. Chooses the fast way where only that keeps it, and refuses the ' +
        'quote if none does. Default: no limit, and the cheaper way.',
    }),
  ),
  integratorFeeCentiBps: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_INTEGRATOR_CENTI_BPS,
      ...expecting(`a whole number from 0 to ${MAX_INTEGRATOR_CENTI_BPS}, in hundredths of a basis point`),
      description: 'A fee of your own, which the operator owes you once the swap is paid for. Default 0.',
    }),
  ),
  externalId: Type.Optional(ExternalId),
  tradeType: Type.Optional(
    oneOf(TRADE_TYPES, {
      description: 'exactInput (default): amount is the input. exactOutput: amount is the output.',
    }),
  ),
})
/** A request as callers may send it. */
export type NamedQuoteRequest = Static<typeof QuoteRequest>
/** A request with chains by number. */
export type QuoteRequest = Omit<NamedQuoteRequest, 'originChain' | 'destinationChain'> & {
  originChain: number
  destinationChain: number
}

export const Fee = Type.Object({
  kind: oneOf(FEE_KINDS),
  amount: Type.String({
    description:
      'In the input token. Negative is a gain: a price better than the reference, or a rebate for rebalancing.',
  }),
  usd: Type.Optional(Usd),
})
export type Fee = Static<typeof Fee>

export const FeeDiscount = Type.Object({
  tier: Type.String({ description: 'The tier that the wallet has earned.' }),
  discountPercent: Type.Integer({ description: 'The reduction of the fee.' }),
  baseFeeBps: Type.Number({ description: 'The fee without the discount.' }),
})
export type FeeDiscount = Static<typeof FeeDiscount>

export const QuoteWarning = Type.Object({
  code: Type.String({
    description: 'HIGH_PRICE_IMPACT, SLOW_SETTLEMENT or DISCOUNT_UNKNOWN; more codes may be added.',
  }),
  message: Type.String(),
})
export type QuoteWarning = Static<typeof QuoteWarning>

export const QuotedMethod = Type.Object({
  method: OriginMethod,
  input: Type.String(),
  output: Type.String(),
  minOutput: Type.String(),
})
export type QuotedMethod = Static<typeof QuotedMethod>

export const SPEEDS = ['final', 'fast'] as const
export const Speed = oneOf(SPEEDS, {
  description:
    'final: paid once the input is final on its chain. fast: paid before, for a premium, as far as the operator has ' +
    'room when the input is locked.',
})
export type Speed = Static<typeof Speed>

export const QuotedSpeed = Type.Object({
  speed: Speed,
  etaSeconds: Type.Integer(),
  outputAmount: Type.String(),
  minOutput: Type.String(),
  riskPremium: Type.Optional(
    Type.String({ description: 'In the input token. It goes back into the output if the swap has to wait.' }),
  ),
  riskPremiumUsd: Type.Optional(Usd),
})
export type QuotedSpeed = Static<typeof QuotedSpeed>

export const QuoteReply = Type.Object({
  geoQuoteToken: SealedToken,
  origin: oneOf(FAMILIES, { description: 'Selects the build call.' }),
  input: Type.String({ description: 'The amount the wallet pays.' }),
  output: Type.String({ description: 'The expected amount for the recipient.' }),
  minOutput: Type.String({ description: 'The amount that the signed operation guarantees.' }),
  originMethods: Type.Optional(
    Type.Array(QuotedMethod, {
      description:
        'How the input can come in, on an EVM chain, with the price of each way; delegation has the price above. ' +
        'Build takes one of them.',
    }),
  ),
  feeBps: Type.Number({ description: 'Service fee after discounts; may be fractional.' }),
  expiresAt: Time,
  externalId: Type.Optional(ExternalId),
  etaSeconds: Type.Integer({
    description:
      'Time from submission to settlement: 8 of 10 recent swaps of this route and size were as fast.',
  }),
  speed: Type.Optional(
    Type.Unsafe<Speed>({
      ...Speed,
      description: 'The way of this quote: present if there are two, or if the swap waits for finality.',
    }),
  ),
  speeds: Type.Optional(
    Type.Array(QuotedSpeed, { description: 'Both ways, the cheaper first. maxEtaSeconds chooses.' }),
  ),
  fees: Type.Array(Fee, { description: 'They explain the whole difference to the reference price.' }),
  feeDiscount: Type.Optional(FeeDiscount),
  inputUsd: Type.Optional(Usd),
  outputUsd: Type.Optional(Usd),
  priceImpactBps: Type.Optional(
    Type.Integer({ description: 'All-in value change; negative means the output is worth less.' }),
  ),
  warnings: Type.Optional(Type.Array(QuoteWarning, { description: 'Never fatal.' })),
})
export type QuoteReply = Static<typeof QuoteReply>
