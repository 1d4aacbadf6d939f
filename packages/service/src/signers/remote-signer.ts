import {
  type Address,
  concat,
  getTypesForEIP712Domain,
  type Hex,
  hashDomain,
  hashStruct,
  type Signature,
  serializeSignature,
  serializeTransaction,
  type TypedDataDefinition,
} from 'viem'
import type { EvmSigner } from '../chains/evm/signer.ts'

/** Signs the Keccak-256 hash of these bytes. */
type SignBytes = (data: Hex) => Promise<Signature>

/** A signer whose key is elsewhere: encodes here, so that only bytes and a signature are exchanged. */
export function createRemoteSigner(address: Address, sign: SignBytes): EvmSigner {
  return {
    address,
    async signTransaction(transaction) {
      return serializeTransaction(transaction, await sign(serializeTransaction(transaction)))
    },
    async signTypedData(typed) {
      return serializeSignature(await sign(toPreimage(typed)))
    },
  }
}

/** The bytes whose hash is the EIP-712 hash. */
function toPreimage(typed: TypedDataDefinition): Hex {
  const { domain = {}, message, primaryType } = typed
  const types = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...typed.types } as Record<
    string,
    { name: string; type: string }[]
  >
  const struct = hashStruct({ data: message as Record<string, unknown>, primaryType, types })
  return concat(['0x1901', hashDomain({ domain, types }), struct])
}
