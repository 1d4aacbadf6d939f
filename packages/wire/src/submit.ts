import { type Static, Type } from 'typebox'
import { SealedToken, strictObject } from './schema.ts'
import { SwapStatusName } from './status.ts'

// Signature and transaction are plain strings here. Their content is checked only after their token was
// authenticated, so that a stranger learns nothing from a 400.
export const SubmitRequest = strictObject({
  geoOpToken: SealedToken,
  signature: Type.Optional(
    Type.String({
      description:
        'Hex: 65 bytes (v 27, 28, 0 or 1; low s) or the 64 bytes of EIP-2098; for an authorization also what a ' +
        'contract wallet accepts, up to 1 KiB. Absent for a deposit.',
    }),
  ),
})
export type SubmitRequest = Static<typeof SubmitRequest>

export const SubmitSolanaRequest = strictObject({
  geoOpToken: SealedToken,
  signedTransaction: Type.String({ description: 'Base64 of the built transaction, signed by the wallet.' }),
})
export type SubmitSolanaRequest = Static<typeof SubmitSolanaRequest>

export const SubmitReply = Type.Object({
  swapId: Type.String(),
  status: SwapStatusName,
})
export type SubmitReply = Static<typeof SubmitReply>
