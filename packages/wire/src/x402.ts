import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { expecting } from './expected.ts'
import { Address, Amount, ChainRefText, strictObject, Token } from './schema.ts'

const listed = (what: string, maxLength: number) => ({
  minLength: 1,
  maxLength,
  ...expecting(what),
})

/** The parameters of a swap by one payment, as text in a URL or in a JSON body. */
export const X402Request = strictObject({
  originChain: Type.String({
    ...listed(
      'the number or CAIP-2 id of a chain, or up to three, separated by commas, such as "8453,137"',
      150,
    ),
    description: 'Where to pay from: one chain, or up to three, separated by commas. Each is an offer.',
  }),
  destinationChain: ChainRefText,
  inputToken: Type.String({
    ...listed(
      'the address of a token, or one for each origin chain, separated by commas, such as "0x83…02913"',
      400,
    ),
    description: 'Token to pay with. One for all origin chains, or one for each, separated by commas.',
  }),
  outputToken: Token,
  amount: Amount,
  recipient: Address,
  wallet: Type.Optional(
    Type.Unsafe<string>({
      ...Address,
      description: 'The payer, who is paid back. Default: the recipient, if it is an address of the origin.',
    }),
  ),
})
export type X402Request = Static<typeof X402Request>

const RequirementsV1 = Type.Object({
  scheme: Type.String(),
  network: Type.String(),
  maxAmountRequired: Type.String(),
  resource: Type.String(),
  description: Type.String(),
  mimeType: Type.String(),
  outputSchema: Type.Record(Type.String(), Type.Unknown(), { description: 'How to ask, for catalogues.' }),
  payTo: Type.String(),
  maxTimeoutSeconds: Type.Integer(),
  asset: Type.String(),
  extra: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "The quote and the decoded operation. On EVM the token's EIP-712 name and version; on Solana the fee payer, " +
      'memo and blockhash of the transaction.',
  }),
})

/** The body of a 402, for clients of version 1. Its header PAYMENT-REQUIRED is for those of version 2. */
export const PaymentRequired = Type.Object({
  x402Version: Type.Literal(1),
  error: Type.String({ description: 'Why a payment is asked for, or why one was not taken.' }),
  accepts: Type.Array(RequirementsV1, {
    description: 'The offers. Pay one: payTo belongs to its operation.',
  }),
})
export type PaymentRequired = Static<typeof PaymentRequired>

const HexAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const Exact3009 = Type.Object({
  signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2})+$', maxLength: 1_858 }),
  authorization: Type.Object({
    from: HexAddress,
    to: HexAddress,
    value: Amount,
    validAfter: Amount,
    validBefore: Amount,
    nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
  }),
})
/** On Solana: base64 of a transaction of at most 1,232 bytes. */
const ExactTransaction = Type.Object({ transaction: Type.String({ minLength: 1, maxLength: 1_644 }) })
const Exact = Type.Union([Exact3009, ExactTransaction])
const Named = { scheme: Type.Literal('exact'), network: Type.String({ maxLength: 64 }) }
const Account = Type.String({ maxLength: 64 })
const Accepted = Type.Object({ ...Named, asset: Account, amount: Amount, payTo: Account })

const PaymentV1 = Type.Object({ x402Version: Type.Literal(1), ...Named, payload: Exact })
const PaymentV2 = Type.Object({ x402Version: Type.Literal(2), accepted: Accepted, payload: Exact })

/** `accepted`: the requirements that a payer of version 2 names. */
type PaymentHead = { version: 1 | 2; network: string; accepted: Static<typeof Accepted> | undefined }
export type AuthorizedPayment = Static<typeof Exact3009> & PaymentHead
export type TransactionPayment = Static<typeof ExactTransaction> & PaymentHead
/** A payment of the scheme exact: by EIP-3009, or on Solana by a transaction. */
export type ExactPayment = AuthorizedPayment | TransactionPayment

/** Undefined if the value has not the form of a payment. */
export function toExactPayment(value: unknown): ExactPayment | undefined {
  if (Value.Check(PaymentV2, value)) {
    const { accepted, payload } = value
    return { ...paidBy(payload), version: 2, network: accepted.network, accepted }
  }
  if (!Value.Check(PaymentV1, value)) return undefined
  return { ...paidBy(value.payload), version: 1, network: value.network, accepted: undefined }
}

/** Without what a caller added: nobody checked that. */
function paidBy(payload: Static<typeof Exact>): Static<typeof Exact> {
  if (!Value.Check(Exact3009, payload)) return { transaction: payload.transaction }
  const { signature, authorization } = payload
  return { signature, authorization }
}
