import { createHash } from 'node:crypto'
import {
  type Address,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit'
import { invalidParams } from './rpc-error.ts'

export type Instruction = { programIndex: number; accounts: readonly number[]; data: Uint8Array }
type TableLookup = { table: Address; writable: readonly number[]; readonly: readonly number[] }
export type Message = {
  version: 'legacy' | 0
  header: { signers: number; readonlySigners: number; readonlyOthers: number }
  keys: readonly Address[]
  blockhash: string
  instructions: readonly Instruction[]
  lookups: readonly TableLookup[]
}
export type WireTransaction = {
  bytes: Uint8Array
  signed: Transaction
  signature: string
  signatures: readonly string[]
  isFullySigned: boolean
  messageHash: string
  message: Message
}

// A transaction must fit one UDP packet of IPv6: 1280 - 40 - 8.
const MAX_TRANSACTION_BYTES = 1232

const base58 = getBase58Decoder()
const transactionDecoder = getTransactionDecoder()
const messageDecoder = getCompiledTransactionMessageDecoder()
const messageEncoder = getCompiledTransactionMessageEncoder()

/**
 * Parses a transaction, and refuses every encoding that does not serialize to the same bytes: the runtime's
 * deserializer aborts the process on malformed input.
 */
export function readWireTransaction(bytes: Uint8Array): WireTransaction {
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw invalidParams(`transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`)
  }
  const signed = attempt(() => transactionDecoder.decode(bytes))
  const message = readMessage(signed.messageBytes)
  const raw = Object.values(signed.signatures)
  const signatures = raw.map((signature) => toBase58(signature ?? new Uint8Array(64)))
  if (bytes.length !== 1 + 64 * raw.length + signed.messageBytes.length) throw malformed()
  return {
    bytes,
    signed,
    signature: signatures[0] ?? '',
    signatures,
    isFullySigned: raw.every((signature) => signature !== null),
    messageHash: createHash('sha256').update(Uint8Array.from(signed.messageBytes)).digest('base64'),
    message,
  }
}

export function readMessage(bytes: Transaction['messageBytes'] | Uint8Array): Message {
  const compiled = attempt(() => messageDecoder.decode(bytes))
  if (compiled.version !== 'legacy' && compiled.version !== 0) throw malformed()
  const again = attempt(() => messageEncoder.encode(compiled))
  if (Buffer.compare(Buffer.from(again), Buffer.from(bytes)) !== 0) throw malformed()
  const { header, staticAccounts } = compiled
  if (header.numSignerAccounts === 0 || header.numSignerAccounts > staticAccounts.length) throw malformed()
  return {
    version: compiled.version,
    header: {
      signers: header.numSignerAccounts,
      readonlySigners: header.numReadonlySignerAccounts,
      readonlyOthers: header.numReadonlyNonSignerAccounts,
    },
    keys: staticAccounts,
    blockhash: compiled.lifetimeToken,
    instructions: compiled.instructions.map((instruction) => ({
      programIndex: instruction.programAddressIndex,
      accounts: instruction.accountIndices ?? [],
      data: Uint8Array.from(instruction.data ?? []),
    })),
    lookups: (compiled.version === 0 ? (compiled.addressTableLookups ?? []) : []).map((lookup) => ({
      table: lookup.lookupTableAddress,
      writable: lookup.writableIndexes,
      readonly: lookup.readonlyIndexes,
    })),
  }
}

export function toBase58(bytes: Uint8Array): string {
  return base58.decode(bytes)
}

function attempt<Value>(decode: () => Value): Value {
  try {
    return decode()
  } catch {
    throw malformed()
  }
}

function malformed() {
  return invalidParams('failed to deserialize solana_transaction::versioned::VersionedTransaction')
}
