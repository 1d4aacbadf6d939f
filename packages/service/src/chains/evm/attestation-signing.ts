import { attestationTypes, geoOpDomain } from '@geoswap/protocol'
import { type Hex, verifyTypedData } from 'viem'
import type { CustodyOf } from '../../model/op-terms.ts'
import type { EvmSigner } from './signer.ts'

/** The attester's key for a chain. */
export type SignerOf = (chainId: number) => Promise<EvmSigner>
type Hashed = { hash: string }
type Attestation = {
  chainId: number
  kind: 'claim' | 'refund'
  opHashes: readonly string[]
  validUntil?: number | undefined
  signature: string
}

/** Signs and verifies attestations, which the escrow of an EVM chain accepts as typed data. */
export function createAttestationSigning(signerOf: SignerOf, custodyOf: CustodyOf) {
  const domainOf = (chainId: number) => {
    const custody = custodyOf(chainId)
    if (!('escrow' in custody)) throw new Error(`Chain ${chainId} has no escrow contract`)
    return geoOpDomain({ chainId, escrow: custody.escrow })
  }
  const toClaims = (chainId: number, ops: readonly string[]) => ({
    ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Claims' as const },
    message: { ops: ops as Hex[] },
  })
  const toRefund = (chainId: number, op: string, validUntil: number) => ({
    ...{ domain: domainOf(chainId), types: attestationTypes, primaryType: 'Refund' as const },
    message: { op: op as Hex, validUntil: BigInt(validUntil) },
  })
  return {
    async signClaims(chainId: number, ops: readonly Hashed[]) {
      const hashes = ops.map(({ hash }) => hash)
      return (await signerOf(chainId)).signTypedData(toClaims(chainId, hashes))
    },
    signRefund: async (chainId: number, { hash }: Hashed, validUntil: number) =>
      (await signerOf(chainId)).signTypedData(toRefund(chainId, hash, validUntil)),
    async isTaken({ chainId, kind, opHashes, validUntil = 0, signature: text }: Attestation) {
      const signature = text as Hex
      const { address } = await signerOf(chainId)
      if (kind === 'claim') return verifyTypedData({ ...toClaims(chainId, opHashes), address, signature })
      return verifyTypedData({ ...toRefund(chainId, opHashes[0] ?? '', validUntil), address, signature })
    },
  }
}
