import { type Static, Type } from 'typebox'
import { Address, ChainId, strictObject } from './schema.ts'

/** The query as a client passes it. On the wire `chainId` is text: see DelegationQueryText. */
export const DelegationQuery = strictObject({ chainId: ChainId, walletAddress: Address })
export type DelegationQuery = Static<typeof DelegationQuery>

/** The query as it arrives in the URL. 16 digits hold every safe integer. */
export const DelegationQueryText = strictObject({
  chainId: Type.String({ pattern: '^[1-9][0-9]{0,15}$', description: 'The chain, a decimal integer.' }),
  walletAddress: Address,
})
export type DelegationQueryText = Static<typeof DelegationQueryText>

export const DelegationReply = Type.Object({
  chainId: ChainId,
  walletAddress: Type.String(),
  delegated: Type.Boolean(),
  originReady: Type.Boolean({
    description: 'True when this wallet can swap from here without an authorization.',
  }),
  delegatedTo: Type.Optional(Type.String({ description: 'Present when delegated.' })),
  delegationTarget: Type.Optional(Type.String({ description: 'Sign over this address.' })),
  accountNonce: Type.Optional(Type.Integer({ description: 'Sign over this nonce.' })),
})
export type DelegationReply = Static<typeof DelegationReply>
