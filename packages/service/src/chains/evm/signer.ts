import type { Address, Hex, TransactionSerializable, TypedDataDefinition } from 'viem'

/**
 * Signs for one address, with a key in this process or elsewhere. The same content may be signed any number of times:
 * nothing is sent before its signed bytes are recorded.
 */
export type EvmSigner = {
  address: Address
  signTransaction(transaction: TransactionSerializable): Promise<Hex>
  signTypedData(typed: TypedDataDefinition): Promise<Hex>
}
