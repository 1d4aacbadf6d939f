import { type Static, Type } from 'typebox'
import { FAMILIES } from './caip.ts'
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
