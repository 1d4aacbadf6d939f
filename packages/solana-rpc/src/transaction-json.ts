import { toBase64 } from './account-json.ts'
import { type AccountKey, loadedAddresses } from './account-keys.ts'
import type { Landed } from './landed.ts'
import { invalidParams, RpcError, UNSUPPORTED_VERSION } from './rpc-error.ts'
import type { InnerGroup, InnerInstruction, Outcome } from './runtime.ts'
import { type Instruction, toBase58, type WireTransaction } from './wire-transaction.ts'

type TransactionFormat = { encoding: unknown; maxVersion: number | undefined }

/** A landed transaction in the requested encoding. Refuses a version that the client cannot read. */
export function toTransactionJson(landed: Landed, format: TransactionFormat) {
  const { version } = landed.transaction.message
  if (version !== 'legacy' && format.maxVersion === undefined) {
    throw new RpcError(
      UNSUPPORTED_VERSION,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request ` +
        'again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
    )
  }
  return {
    transaction: encodeTransaction(landed, format.encoding),
    meta: toMetaJson(landed, format.encoding),
    ...(format.maxVersion !== undefined && { version }),
  }
}

function encodeTransaction({ transaction, keys }: Landed, encoding: unknown): unknown {
  if (encoding === 'base64') return [toBase64(transaction.bytes), 'base64']
  if (encoding === 'base58') return [toBase58(transaction.bytes), 'base58']
  if (encoding === 'jsonParsed') return toParsedJson(transaction, keys)
  if (encoding !== undefined && encoding !== null && encoding !== 'json') {
    throw invalidParams(`unsupported encoding: ${String(encoding)}`)
  }
  return toPlainJson(transaction)
}

function toPlainJson({ message, signatures }: WireTransaction) {
  const { header, lookups } = message
  return {
    signatures,
    message: {
      header: {
        numRequiredSignatures: header.signers,
        numReadonlySignedAccounts: header.readonlySigners,
        numReadonlyUnsignedAccounts: header.readonlyOthers,
      },
      accountKeys: message.keys,
      recentBlockhash: message.blockhash,
      instructions: message.instructions.map((instruction) => toInstructionJson(instruction, 1)),
      ...(message.version === 0 && { addressTableLookups: toLookupsJson(lookups) }),
    },
  }
}

function toParsedJson({ message, signatures }: WireTransaction, keys: readonly AccountKey[]) {
  return {
    signatures,
    message: {
      accountKeys: keys.map(({ address, ...key }) => ({ pubkey: address, ...key })),
      recentBlockhash: message.blockhash,
      instructions: message.instructions.map((instruction) => toNamedInstruction(keys, instruction, 1)),
      ...(message.version === 0 && { addressTableLookups: toLookupsJson(message.lookups) }),
    },
  }
}

function toLookupsJson(lookups: WireTransaction['message']['lookups']) {
  return lookups.map(({ table, writable, readonly }) => {
    return { accountKey: table, writableIndexes: writable, readonlyIndexes: readonly }
  })
}

function toInstructionJson(instruction: Instruction, stackHeight: number) {
  const { programIndex, accounts, data } = instruction
  return { programIdIndex: programIndex, accounts, data: toBase58(data), stackHeight }
}

function toNamedInstruction(keys: readonly AccountKey[], instruction: Instruction, stackHeight: number) {
  const named = (index: number) => keys[index]?.address ?? null
  return {
    programId: named(instruction.programIndex),
    accounts: instruction.accounts.map(named),
    data: toBase58(instruction.data),
    stackHeight,
  }
}

/** Inner instructions, by account index or, for `jsonParsed`, by address. */
export function toInnerJson(inner: readonly InnerGroup[], keys: readonly AccountKey[] | undefined) {
  const toJson = (instruction: InnerInstruction) =>
    keys
      ? toNamedInstruction(keys, instruction, instruction.stackHeight)
      : toInstructionJson(instruction, instruction.stackHeight)
  return inner.map(({ index, instructions }) => ({ index, instructions: instructions.map(toJson) }))
}

export function toReturnDataJson(returnData: Outcome['returnData']) {
  return returnData && { programId: returnData.programId, data: [toBase64(returnData.data), 'base64'] }
}

function toMetaJson(landed: Landed, encoding: unknown) {
  const isParsed = encoding === 'jsonParsed'
  return {
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    fee: landed.fee,
    preBalances: landed.preBalances,
    postBalances: landed.postBalances,
    preTokenBalances: landed.preTokenBalances,
    postTokenBalances: landed.postTokenBalances,
    innerInstructions: toInnerJson(landed.inner, isParsed ? landed.keys : undefined),
    logMessages: landed.logs,
    computeUnitsConsumed: landed.unitsConsumed,
    returnData: toReturnDataJson(landed.returnData),
    rewards: [],
    ...(!isParsed && { loadedAddresses: loadedAddresses(landed.keys) }),
  }
}
