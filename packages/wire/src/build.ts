import { type Static, Type } from 'typebox'
import { OriginMethod, SealedToken, strictObject, Time } from './schema.ts'

const Word = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: '32 bytes, hex.' })
const Uint53 = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** A signed EIP-7702 authorization of the two fields that GET /swap/delegation returned. */
export const Authorization = strictObject(
  {
    chainId: Uint53,
    address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'delegationTarget.' }),
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

export const BuildGeoOpReply = Type.Object({
  geoOpHash: Type.String({
    description:
      'The id of the operation. With delegation, sign these 32 bytes with personal_sign, or operation as typed data.',
  }),
  geoOpToken: SealedToken,
  expiresAt: OperationExpiry,
  operation: TypedData,
  method: Type.Optional(OriginMethod),
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
        'With deposit: submit without a signature, then send exactly the input here, in one token.',
    }),
  ),
  depositUntil: Type.Optional(
    Type.Unsafe<string>({
      ...Time,
      description: 'With deposit: the transfer should be on the chain by then.',
    }),
  ),
})
export type BuildGeoOpReply = Static<typeof BuildGeoOpReply>

export const BuildSolanaTxReply = Type.Object({
  unsignedTransaction: Type.String({ description: 'Base64 of an unsigned v0 transaction.' }),
  geoOpToken: SealedToken,
  expiresAt: Type.String({
    format: 'date-time',
    description: 'The transaction can be submitted until then: its blockhash is valid for about a minute.',
  }),
  operation: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The decoded terms of the transaction, and the delivery. The EIP-712 struct hash of the delivery is the opId.',
  }),
})
export type BuildSolanaTxReply = Static<typeof BuildSolanaTxReply>
