import { type Static, type TSchema, Type } from 'typebox'
import { FAMILIES } from './caip.ts'
import { ORIGIN_METHODS, RATE_CLASSES } from './names.ts'
import {
  ChainId,
  ChainRef,
  ChainRefText,
  caip,
  OriginMethod,
  oneOf,
  strictObject,
  Time,
  Usd,
} from './schema.ts'

/** Why a chain has no quotes now: the codes with which a quote would be refused. */
const UNAVAILABLE_REASONS = ['CHAIN_UNAVAILABLE', 'PRICE_UNAVAILABLE'] as const

const Decimals = Type.Integer({ minimum: 0, description: 'As on the chain.' })
const Ticker = Type.String({ description: 'For display only: chain and address identify a token.' })

export const ChainsQueryText = strictObject({})
export type ChainsQueryText = Static<typeof ChainsQueryText>

export const ChainEntry = Type.Object({
  chainId: ChainId,
  caip: caip('chainId', 'native'),
  name: Type.String(),
  family: oneOf(FAMILIES, { description: 'Selects the address format and the build call.' }),
  native: Type.Object(
    {
      symbol: Ticker,
      address: Type.String({ description: 'Used in place of a token address.' }),
      decimals: Decimals,
    },
    { description: "The chain's own coin." },
  ),
  available: Type.Boolean({ description: 'Whether swaps from or to this chain are quoted now.' }),
  reason: Type.Optional(
    oneOf(UNAVAILABLE_REASONS, {
      description:
        'Present if not available: the chain does not answer or has halted, or its coin has no current price.',
    }),
  ),
  attesterChangeAt: Type.Optional(
    Type.Unsafe<string>({
      ...Time,
      description:
        'Present while a change of attesters is pending. The new ones decide swaps whose refund deadline is this ' +
        'time or later. The attesters of a built swap never change.',
    }),
  ),
})
export type ChainEntry = Static<typeof ChainEntry>

export const ChainsReply = Type.Object({ chains: Type.Array(ChainEntry) })
export type ChainsReply = Static<typeof ChainsReply>

/** The query as clients pass it. On the wire `chainId` is text: see TokensQueryText. */
export const TokensQuery = strictObject({ chainId: Type.Optional(ChainRef) })
export type TokensQuery = Static<typeof TokensQuery>

export const TokensQueryText = strictObject({ chainId: Type.Optional(ChainRefText) })
export type TokensQueryText = Static<typeof TokensQueryText>

export const TokenEntry = Type.Object({
  chainId: ChainId,
  caip: caip('chainId', 'address'),
  symbol: Ticker,
  address: Type.String({ description: 'The value for inputToken and outputToken.' }),
  decimals: Decimals,
  asset: Type.String({
    description: 'The asset that prices the token: tokens of one asset have the same price.',
  }),
  native: Type.Boolean({ description: "True for the chain's own coin." }),
  input: Type.Boolean({ description: 'Whether it can be paid with now.' }),
  output: Type.Boolean({ description: 'Whether it can be bought now.' }),
  closed: Type.Optional(
    Type.String({
      description: 'Present if the token is closed: what about it differs from what the operator configured.',
    }),
  ),
  originMethods: Type.Optional(
    Type.Array(OriginMethod, {
      description: 'How it can come in, on an EVM chain. A quote lists the ways of its wallet.',
    }),
  ),
  maxOutput: Type.Optional(
    Type.String({
      description:
        'The largest output now, in the smallest unit; caps of an origin chain may allow less. Present with output.',
    }),
  ),
  priceUsd: Type.Optional(
    Type.Unsafe<string>({ ...Usd, description: 'Indicative price of one whole token, two decimals.' }),
  ),
})
export type TokenEntry = Static<typeof TokenEntry>

export const TokensReply = Type.Object({ tokens: Type.Array(TokenEntry) })
export type TokensReply = Static<typeof TokensReply>

/** Why a capability is off. */
const OFF_REASONS = {
  NOT_CONFIGURED: 'the operator did not switch it on',
  NO_TOKEN: 'no token here takes it',
  NO_ROOM: 'nothing is left of it now, try again later',
  NO_ENDPOINT: 'the operator has no active endpoint of this account',
  KEY_NOT_ALLOWED: 'this API key may not',
  ACCOUNT_NOT_ALLOWED: 'this account may not',
} as const
export type OffReason = keyof typeof OFF_REASONS

const REASONS = `Present if off. ${Object.entries(OFF_REASONS)
  .map(([code, why]) => `${code}: ${why}`)
  .join('; ')}.`

const capability = (description: string) =>
  Type.Object(
    {
      enabled: Type.Boolean(),
      reason: Type.Optional(oneOf(Object.keys(OFF_REASONS) as OffReason[], { description: REASONS })),
    },
    { description },
  )
export const Capability = capability('Whether this API key can use it here.')
export type Capability = Static<typeof Capability>

const fieldsOf = <const Names extends readonly string[], Field extends TSchema>(names: Names, field: Field) =>
  Object.fromEntries(names.map((name) => [name, field])) as Record<Names[number], Field>

export const CapabilitiesReply = Type.Object({
  versions: Type.Object({ service: Type.String() }),
  originMethods: Type.Object(fieldsOf(ORIGIN_METHODS, Capability), {
    description: 'How an input can come in on an EVM chain. A token lists its own ways.',
  }),
  features: Type.Object({
    fast: capability('Large swaps paid before finality, for a premium.'),
    discounts: capability('Lower fees for holders.'),
    rebalancing: capability('Prices that follow what the vaults hold.'),
    integratorFees: capability('A fee of the account itself.'),
    contractWallets: capability('Inputs of wallets with code of others.'),
    history: capability('The list of swaps of the account.'),
    webhooks: capability('Events posted to the account.'),
    publishableKeys: capability('Keys for web pages, which the operator creates.'),
    screening: capability('Parties are screened before a quote and a submission.'),
    regions: capability('Some assets are not offered everywhere.'),
    x402: capability('Swaps by one HTTP 402 payment, which need no API key.'),
    keyless: capability('Calls signed by a wallet (ERC-8128), which need no API key.'),
  }),
  limits: Type.Object({
    requestsPerSecond: Type.Object(fieldsOf(RATE_CLASSES, Type.Number()), {
      description: 'Of the account, by class of call. Bursts may be twice as large.',
    }),
    bodyBytes: Type.Integer({ description: 'The largest body of a request.' }),
    heldReads: Type.Integer({ description: 'Held reads and streams of the account at once.' }),
    quoteSeconds: Type.Number({ description: 'The life of a quote.' }),
    unsubmitted: Type.Integer({ description: 'Built operations of the account that may wait.' }),
    unsubmittedUsd: Type.Unsafe<string>({ ...Usd, description: 'Their value together.' }),
    integratorFeeCentiBps: Type.Integer({ description: 'The largest fee of the account itself.' }),
    swapUsd: Type.Optional(Type.Unsafe<string>({ ...Usd, description: 'Of one swap with this key.' })),
    dayUsd: Type.Optional(
      Type.Unsafe<string>({ ...Usd, description: 'Of all swaps of one UTC day with this key.' }),
    ),
    tokens: Type.Optional(
      Type.Array(Type.String(), { description: 'Only these, as chainId:address, may this key swap.' }),
    ),
    fixedRecipients: Type.Boolean({ description: 'Only recipients that the operator allowed may be paid.' }),
  }),
})
export type CapabilitiesReply = Static<typeof CapabilitiesReply>
