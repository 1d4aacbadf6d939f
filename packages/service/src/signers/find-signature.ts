import {
  type Address,
  type Hex,
  isAddressEqual,
  keccak256,
  recoverAddress,
  type Signature,
  toHex,
} from 'viem'

// The order of the group of secp256k1.
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const R_AND_S = /^0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})/

/**
 * The signature of `data` by this address, with the lower `s` and the matching parity; undefined if the bytes are no
 * such signature. The signer's own `v` is not needed: the parity is the one that leads to the address.
 */
export async function findSignature(
  data: Hex,
  bytes: string,
  address: Address,
): Promise<Signature | undefined> {
  const [, r, s] = R_AND_S.exec(bytes) ?? []
  if (!r || !s) return undefined
  const hash = keccak256(data)
  const low = lowerOf(BigInt(`0x${s}`))
  for (const yParity of [0, 1]) {
    const signature = { r: `0x${r}` as Hex, s: toHex(low, { size: 32 }), yParity }
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
    if (signer && isAddressEqual(signer, address)) return signature
  }
  return undefined
}

/** Chains accept only the lower of the two values that sign the same. */
function lowerOf(s: bigint): bigint {
  return s > ORDER / 2n ? ORDER - s : s
}
