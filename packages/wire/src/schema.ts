import { type Static, type TSchema, type TString, Type } from 'typebox'
import { expecting } from './expected.ts'
import { INPUT_METHODS, ORIGIN_METHODS } from './names.ts'

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

export const AMOUNT = 'a whole number of the smallest unit, as a string, such as "1000000"'

/** 78 digits hold 2^256 - 1; the quote checks the range. */
export const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  ...expecting(AMOUNT),
  description: "Integer in the token's smallest unit, as a decimal string.",
})

export const ChainId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  ...expecting('the number of a chain, such as 8453'),
  description: 'The EVM chain id; Solana mainnet is 792703809, Solana devnet 792703810.',
})

const CAIP_2 = '[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}'

/** A chain in a request. One schema of two types gives one message about a wrong value. */
export const ChainRef = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  pattern: `^${CAIP_2}$`,
  ...expecting('the number of a chain, such as 8453, or its CAIP-2 id, such as "eip155:8453"'),
  description: 'The chain: its number, or its CAIP-2 id, such as eip155:8453.',
})

/** A chain in a URL. 16 digits hold every safe integer. */
export const ChainRefText = Type.String({
  pattern: `^([1-9][0-9]{0,15}|${CAIP_2})$`,
  ...expecting('the number of a chain, such as 8453, or its CAIP-2 id, such as eip155:8453'),
  description: 'The chain: its number, or its CAIP-2 id.',
})

/** The chain that a text in a URL names. */
export function toChainRef(text: string): number | string {
  return text.includes(':') ? text : Number(text)
}

// A CAIP-19 token on Solana has 90 characters.
const MAX_ID_LENGTH = 128
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

/** Long enough for any address or mint of either family; its format is checked per chain. */
export const Address = Type.String({
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  ...expecting(`the address of an account, such as "${ADDRESS}"`),
  description:
    'EVM address (any case, a wrong checksum is refused), Solana base58 address, or CAIP-10 account of the same chain.',
})

export const Token = Type.String({
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  ...expecting(`the address of a token, such as "${TOKEN}"`),
  description:
    'Token address or mint, or CAIP-19 token of the same chain. Native: the zero address on EVM, ' +
    '11111111111111111111111111111111 on Solana, or slip44 in CAIP-19.',
})

export const SealedToken = Type.String({
  minLength: 1,
  ...expecting('the sealed token of an earlier reply, as a string and unchanged'),
  description: 'Opaque sealed token: send it back unchanged.',
})

/** No spaces or control characters: it is shown in terminals and read by models. */
export const ExternalId = Type.String({
  pattern: '^[!-~]{1,64}$',
  ...expecting('1 to 64 visible ASCII characters without spaces, such as "order-4711"'),
  description: "The caller's own name for the swap. It need not be unique.",
})

export const Time = Type.String({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds.' })

export const Usd = Type.String({
  pattern: '^-?[0-9]+\\.[0-9]{2}$',
  description: 'Indicative USD value, two decimals.',
})

export type OriginMethod = Static<typeof OriginMethod>
export const OriginMethod = oneOf(ORIGIN_METHODS, {
  description:
    'delegation: EIP-7702 code of the wallet. authorization: EIP-3009 signature. permit: EIP-2612 signature. ' +
    'deposit: a plain transfer by anyone to an address of the operation. transfer: the same by the wallet itself.',
})

export const InputMethod = oneOf(INPUT_METHODS, {
  description: 'How the input came in: as the build named it, or payment: by HTTP 402.',
})

/** The CAIP form of the fields of these names, which stand beside it. */
export function caip<const Name extends string>(...names: Name[]) {
  const fields = Object.fromEntries(names.map((name) => [name, Type.String()])) as Record<Name, TString>
  return Type.Object(fields, {
    description: 'The fields of the same name as CAIP-2 chain, CAIP-10 account or CAIP-19 token.',
  })
}
