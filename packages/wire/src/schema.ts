import { type TSchema, Type } from 'typebox'

/** A string from a fixed list. A single `enum` keyword gives short messages and a fast serializer. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  options: { description?: string } = {},
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })
}

/** A request object. Unknown fields are refused, so that a typo never trades. */
export function strictObject<const Fields extends Record<string, TSchema>>(
  fields: Fields,
  options: { description?: string } = {},
) {
  return Type.Object(fields, { additionalProperties: false, ...options })
}

/** 78 digits hold 2^256 - 1; the quote checks the range. */
export const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description: "Integer in the token's smallest unit, as a decimal string.",
})

export const ChainId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The EVM chain id; Solana mainnet is 792703809, Solana devnet 792703810.',
})

/** A chain id in a URL. 16 digits hold every safe integer. */
export const ChainIdText = Type.String({
  pattern: '^[1-9][0-9]{0,15}$',
  description: 'The chain, a decimal integer.',
})

/** Long enough for any address or mint of either family; its format is checked per chain. */
export const Address = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'EVM address (any case, a wrong checksum is refused) or Solana base58 address.',
})

export const Token = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'Token address or mint. Native: the zero address on EVM, 11111111111111111111111111111111 on Solana.',
})

export const SealedToken = Type.String({
  minLength: 1,
  description: 'Opaque sealed token: send it back unchanged.',
})

export const Time = Type.String({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds.' })

export const Usd = Type.String({
  pattern: '^-?[0-9]+\\.[0-9]{2}$',
  description: 'Indicative USD value, two decimals.',
})
