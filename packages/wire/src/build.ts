import { type Static, Type } from 'typebox'
import { expecting } from './expected.ts'
import {
  Address,
  ChainId,
  ChainRef,
  ChainRefText,
  caip,
  ExternalId,
  InputMethod,
  OriginMethod,
  SealedToken,
  strictObject,
  Time,
} from './schema.ts'
import { SwapStatusName } from './status.ts'

const Word = Type.String({
  pattern: '^0x[0-9a-fA-F]{64}$',
  description: '32 bytes, hex.',
  ...expecting(`32 bytes in hex, as a string of 0x and 64 digits, such as "0x${'1f'.repeat(32)}"`),
})
const Uint53 = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** A signed EIP-7702 authorization of the two fields that GET /swap/delegation returned. */
export const Authorization = strictObject(
  {
    chainId: Uint53,
    address: Type.String({
      pattern: '^0x[0-9a-fA-F]{40}$',
      description: 'delegationTarget.',
      ...expecting('the delegationTarget of GET /swap/delegation, unchanged'),
    }),
    nonce: Uint53,
    yParity: Type.Integer({ minimum: 0, maximum: 1 }),
    r: Word,
    s: Word,
  },
  { description: 'Signed EIP-7702 authorization. Omit it for a delegated wallet.' },
)
export type Authorization = Static<typeof Authorization>

export const BuildRequest = strictObject({
  geoQuoteToken: SealedToken,
  authorization: Type.Optional(Authorization),
  method: Type.Optional(
    Type.Unsafe<OriginMethod>({
      ...OriginMethod,
      description:
        'One of originMethods of the quote. Default: delegation. The first build of a quote decides.',
    }),
  ),
})
export type BuildRequest = Static<typeof BuildRequest>

export const BuildSolanaRequest = strictObject({
  geoQuoteToken: SealedToken,
  authorization: Type.Optional(Authorization),
})
export type BuildSolanaRequest = Static<typeof BuildSolanaRequest>

const OperationExpiry = Type.String({
  format: 'date-time',
  description: 'The operation can be submitted until then.',
})

export const TypedData = Type.Object(
  {
    domain: Type.Record(Type.String(), Type.Unknown()),
    types: Type.Record(Type.String(), Type.Array(Type.Object({ name: Type.String(), type: Type.String() }))),
    primaryType: Type.String(),
    message: Type.Record(Type.String(), Type.Unknown()),
  },
  { description: 'EIP-712 typed data: its hash is geoOpHash.' },
)
export type TypedData = Static<typeof TypedData>

const SentTransaction = Type.Object(
  {
    chainId: ChainId,
    to: Type.String(),
    data: Type.String({ description: 'Calldata, hex.' }),
    value: Type.String({ description: 'Native coin in its smallest unit, decimal.' }),
  },
  {
    description:
      'With transfer and deposit: it sends the input to depositAddress. Submit first, then send this, once.',
  },
)

const Quantity = Type.String({ pattern: '^0x[0-9a-f]+$' })

const SendCalls = Type.Object(
  {
    version: Type.String(),
    from: Type.String(),
    chainId: Quantity,
    atomicRequired: Type.Boolean(),
    calls: Type.Array(Type.Object({ to: Type.String(), data: Type.String(), value: Quantity })),
  },
  { description: 'The same transaction as the parameter of wallet_sendCalls (EIP-5792).' },
)

export const BuildGeoOpReply = Type.Object({
  geoOpHash: Type.String({
    description:
      'The id of the operation. With delegation, sign these 32 bytes with personal_sign, or operation as typed data.',
  }),
  geoOpToken: SealedToken,
  expiresAt: OperationExpiry,
  externalId: Type.Optional(ExternalId),
  operation: TypedData,
  method: Type.Optional(InputMethod),
  typedData: Type.Optional(
    Type.Unsafe<TypedData>({
      ...TypedData,
      description:
        'With authorization and permit: sign this with eth_signTypedData_v4 instead of geoOpHash. It names the ' +
        'operation: as nonce of the authorization, or as spender of the permit.',
    }),
  ),
  depositAddress: Type.Optional(
    Type.String({
      description:
        'With transfer and deposit: submit without a signature, then send exactly the input here, in one token.',
    }),
  ),
  depositUntil: Type.Optional(
    Type.Unsafe<string>({
      ...Time,
      description: 'With transfer and deposit: the input should be on the chain by then.',
    }),
  ),
  transaction: Type.Optional(SentTransaction),
  sendCalls: Type.Optional(SendCalls),
})
export type BuildGeoOpReply = Static<typeof BuildGeoOpReply>

export const BuildSolanaTxReply = Type.Object({
  unsignedTransaction: Type.String({ description: 'Base64 of an unsigned v0 transaction.' }),
  geoOpToken: SealedToken,
  expiresAt: Type.String({
    format: 'date-time',
    description: 'The transaction can be submitted until then: its blockhash is valid for about a minute.',
  }),
  externalId: Type.Optional(ExternalId),
  operation: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The decoded terms of the transaction, and the delivery. The EIP-712 struct hash of the delivery is the opId.',
  }),
})
export type BuildSolanaTxReply = Static<typeof BuildSolanaTxReply>

/** The query as clients pass it. On the wire `chainId` is text: see DelegationQueryText. */
export const DelegationQuery = strictObject({ chainId: ChainRef, walletAddress: Address })
export type DelegationQuery = Static<typeof DelegationQuery>

/** The query as it arrives in the URL. */
export const DelegationQueryText = strictObject({ chainId: ChainRefText, walletAddress: Address })
export type DelegationQueryText = Static<typeof DelegationQueryText>

export const DelegationReply = Type.Object({
  chainId: ChainId,
  walletAddress: Type.String(),
  caip: caip('chainId', 'walletAddress'),
  delegated: Type.Boolean(),
  originReady: Type.Boolean({
    description: 'True when this wallet can swap from here without an authorization.',
  }),
  delegatedTo: Type.Optional(Type.String({ description: 'Present when delegated.' })),
  delegationTarget: Type.Optional(Type.String({ description: 'The address to sign in the authorization.' })),
  accountNonce: Type.Optional(Type.Integer({ description: 'The nonce to sign in the authorization.' })),
})
export type DelegationReply = Static<typeof DelegationReply>

// Signature and transaction are plain strings here. Their content is checked only after their token was
// authenticated, so that a stranger learns nothing from a 400.
export const SubmitRequest = strictObject({
  geoOpToken: SealedToken,
  signature: Type.Optional(
    Type.String({
      ...expecting('a signature in hex, as a string, such as "0x1f…1b"'),
      description:
        'Hex: 65 bytes (v 27, 28, 0 or 1; low s) or the 64 bytes of EIP-2098; for an authorization also what a ' +
        'contract wallet accepts, up to 1 KiB. Absent for a transfer or a deposit.',
    }),
  ),
})
export type SubmitRequest = Static<typeof SubmitRequest>

export const SubmitSolanaRequest = strictObject({
  geoOpToken: SealedToken,
  signedTransaction: Type.String({
    description: 'Base64 of the built transaction, signed by the wallet.',
    ...expecting('the signed transaction in base64, as a string, such as "AgAB…"'),
  }),
})
export type SubmitSolanaRequest = Static<typeof SubmitSolanaRequest>

export const SubmitReply = Type.Object({
  swapId: Type.String(),
  status: SwapStatusName,
  externalId: Type.Optional(ExternalId),
})
export type SubmitReply = Static<typeof SubmitReply>
