import { attestationTypes, geoOpDomain } from '@geoswap/protocol'
import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem'
import type { CustodyOf } from '../../model/op-terms.ts'
import type { Attested } from '../attested.ts'
import { recoverSigner } from './recover.ts'

/** The typed data that attesters sign, which the escrow of an EVM chain accepts. */
export function createAttestationMessages(custodyOf: CustodyOf) {
  const domainOf = (chainId: number) => {
    const custody = custodyOf(chainId)
    if (!('escrow' in custody)) throw new Error(`Chain ${chainId} has no escrow contract`)
    return geoOpDomain({ chainId, escrow: custody.escrow })
  }
  const messageOf = ({ chainId, kind, opHashes, validUntil = 0 }: Attested): TypedDataDefinition => {
    const of = { domain: domainOf(chainId), types: attestationTypes }
    if (kind === 'claim') return { ...of, primaryType: 'Claims', message: { ops: opHashes as Hex[] } }
    const message = { op: opHashes[0] as Hex, validUntil: BigInt(validUntil) }
    return { ...of, primaryType: 'Refund', message }
  }
  return {
    messageOf,
    /** The address that signed this; undefined if the text is no signature. */
    recoverSigner: (attested: Attested, signature: string): string | undefined =>
      recoverSigner(hashTypedData(messageOf(attested)), signature as Hex),
  }
}
