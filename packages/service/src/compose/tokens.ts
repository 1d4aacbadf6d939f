import type { SealedOp } from '../flow/build/build-evm.ts'
import type { SealedInput } from '../flow/build/build-solana.ts'
import { fromSealed } from '../model/quote.ts'
import type { JsonValue, Purpose, Sealer } from '../seal/sealer.ts'

/** Sealed tokens: each kind can be opened only by the call that it is for. */
export function createTokens(sealer: Sealer) {
  const seal = (purpose: Purpose) => (accountId: string, payload: unknown) =>
    sealer.seal(purpose, accountId, payload as JsonValue)
  return {
    sealQuote: seal('quote'),
    sealOp: seal('op'),
    sealInput: seal('input'),
    openQuote: (accountId: string, token: string) => fromSealed(sealer.open('quote', accountId, token)),
    openOp: (accountId: string, token: string) => sealer.open('op', accountId, token) as unknown as SealedOp,
    openInput: (accountId: string, token: string) =>
      sealer.open('input', accountId, token) as unknown as SealedInput,
  }
}
