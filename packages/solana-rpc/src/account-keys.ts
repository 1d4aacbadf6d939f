import type { Address } from '@solana/kit'
import { addressAt } from './token-layout.ts'
import type { Message } from './wire-transaction.ts'

export type AccountKey = {
  address: Address
  signer: boolean
  writable: boolean
  source: 'transaction' | 'lookupTable'
}
type ReadData = (address: Address) => Uint8Array | undefined

// Address lookup table program: 56 bytes of state, then the addresses.
const TABLE_HEADER_BYTES = 56

/** All accounts of a message in the runtime's order: its own, then writable and read-only looked-up ones. */
export function resolveKeys(message: Message, readData: ReadData): AccountKey[] {
  const looked = message.lookups.map((lookup) => {
    const data = readData(lookup.table) ?? new Uint8Array()
    return {
      writable: lookup.writable.flatMap((index) => tableEntry(data, index)),
      readonly: lookup.readonly.flatMap((index) => tableEntry(data, index)),
    }
  })
  const loaded = (address: Address, writable: boolean): AccountKey => {
    return { address, signer: false, writable, source: 'lookupTable' }
  }
  return [
    ...message.keys.map((address, index) => staticKey(message, { address, index })),
    ...looked.flatMap((table) => table.writable).map((address) => loaded(address, true)),
    ...looked.flatMap((table) => table.readonly).map((address) => loaded(address, false)),
  ]
}

export function loadedAddresses(keys: readonly AccountKey[]) {
  const loaded = keys.filter((key) => key.source === 'lookupTable')
  return {
    writable: loaded.filter((key) => key.writable).map((key) => key.address),
    readonly: loaded.filter((key) => !key.writable).map((key) => key.address),
  }
}

function staticKey({ header, keys }: Message, key: { address: Address; index: number }): AccountKey {
  const { address, index } = key
  const signer = index < header.signers
  const writable = signer
    ? index < header.signers - header.readonlySigners
    : index < keys.length - header.readonlyOthers
  return { address, signer, writable, source: 'transaction' }
}

// An index beyond the table yields no entry: the runtime itself refuses such a transaction.
function tableEntry(data: Uint8Array, index: number): Address[] {
  const offset = TABLE_HEADER_BYTES + 32 * index
  return offset + 32 <= data.length ? [addressAt(data, offset)] : []
}
