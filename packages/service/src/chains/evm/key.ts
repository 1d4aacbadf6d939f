import { signRecoverable } from 'tiny-secp256k1'
import {
  bytesToHex,
  type Hex,
  hashTypedData,
  hexToBytes,
  keccak256,
  serializeSignature,
  serializeTransaction,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { EvmSigner } from './signer.ts'

/**
 * Signs by libsecp256k1, in a quarter of the time of viem's implementation. Both derive the nonce by RFC 6979, so that
 * the bytes are equal. See docs/decisions.md#a-faster-recovery-of-signers.
 */
export function openKey(privateKey: Hex): EvmSigner {
  const key = hexToBytes(privateKey)
  const sign = (hash: Hex) => {
    const { signature, recoveryId } = signRecoverable(hexToBytes(hash), key)
    const [r, s] = [bytesToHex(signature.subarray(0, 32)), bytesToHex(signature.subarray(32))]
    return { r, s, yParity: recoveryId & 1, v: recoveryId & 1 ? 28n : 27n }
  }
  return {
    address: privateKeyToAddress(privateKey),
    signTransaction: async (transaction) =>
      serializeTransaction(transaction, sign(keccak256(serializeTransaction(transaction)))),
    signTypedData: async (typed) => serializeSignature(sign(hashTypedData(typed))),
  }
}
