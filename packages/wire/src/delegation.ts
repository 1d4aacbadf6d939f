import { type Static, Type } from 'typebox'
import { Address, ChainId, ChainRef, ChainRefText, caip, strictObject } from './schema.ts'

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
