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

/** An escrow slot: round (32 bits), state (2), low 222 bits of the op's hash. */
export type SlotState = 'none' | 'locked' | 'claimed' | 'refunded'

const STATES = ['none', 'locked', 'claimed', 'refunded'] as const satisfies readonly SlotState[]
const HASH_MASK = (1n << 222n) - 1n

/** The state of this op by the slot's word: `none` also if the slot holds another op. */
export function slotStateOf(word: bigint, opHash: Hex): SlotState {
  if ((word & HASH_MASK) !== (BigInt(opHash) & HASH_MASK)) return 'none'
  return STATES[Number((word >> 222n) & 3n)] ?? 'none'
}
