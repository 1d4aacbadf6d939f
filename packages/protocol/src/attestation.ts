import {
  type Address,
  concat,
  type Hex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  size,
} from 'viem'

/** The messages that attesters sign, in the escrow's domain. */
export const attestationTypes = {
  Claims: [{ name: 'ops', type: 'bytes32[]' }],
  Refund: [
    { name: 'op', type: 'bytes32' },
    { name: 'validUntil', type: 'uint256' },
  ],
} as const

/** An attester's signature, of 65 bytes or in its compact form of 64 (EIP-2098). */
export type AttesterSignature = { signer: Address; signature: Hex }

/** Attesters in the order in which the escrow keeps them and takes their signatures. */
export function sortAttesters(attesters: readonly Address[]): Address[] {
  return [...attesters].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
}

/** Attesters' signatures as the escrow takes them: sorted by signer, compact, joined. */
export function joinSignatures(signatures: readonly AttesterSignature[]): Hex {
  const bySigner = new Map(signatures.map(({ signer, signature }) => [BigInt(signer), signature]))
  const signers = sortAttesters(signatures.map(({ signer }) => signer))
  if (bySigner.size !== signers.length) throw new TypeError('an attester has signed twice')
  return concat(signers.map((signer) => toCompact(bySigner.get(BigInt(signer)) ?? '0x')))
}

function toCompact(signature: Hex): Hex {
  if (size(signature) === 64) return signature
  return serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
}
