import type { Address } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget'
import {
  getCreateAccountWithSeedInstructionDataDecoder,
  getCreateAccountWithSeedInstructionDataEncoder,
  getTransferSolInstructionDataDecoder,
  getTransferSolInstructionDataEncoder,
} from '@solana-program/system'
import {
  getTransferCheckedInstructionDataDecoder,
  getTransferCheckedInstructionDataEncoder,
} from '@solana-program/token'
import { NATIVE_SOL } from './address.ts'
import { fromBase64 } from './bytes.ts'
import { INPUT_SIGNERS } from './input.ts'
import { MEMO_PROGRAM } from './instructions.ts'
import { equalBytes, type ReadInstruction, readMessage, splitWire } from './message.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAMS } from './token-layout.ts'

/** The full effect of an input transaction, decoded from its bytes. */
export type InputTerms = {
  feePayer: string
  wallet: string
  /** The op's hash, 64 hex digits. */
  opId: string
  blockhash: string
  computeUnits: number
  microLamportsPerUnit: bigint
  marker: string
  markerLamports: bigint
  token: string
  amount: bigint
  /** Token accounts, or wallets for the native coin. */
  source: string
  destination: string
}

/** Undefined for any message that is not exactly an input: another instruction, account, order or encoding. */
export function readInputTerms(message: Uint8Array): InputTerms | undefined {
  const read = readMessage(message)
  if (!read || read.signers.length !== INPUT_SIGNERS || read.instructions.length !== 5) return undefined
  const [feePayer, wallet] = read.signers as [string, string]
  const [limit, price, create, memo, transfer] = read.instructions as [
    ...[ReadInstruction, ReadInstruction, ReadInstruction, ReadInstruction, ReadInstruction],
  ]
  try {
    const terms = {
      feePayer,
      wallet,
      blockhash: read.blockhash,
      opId: readMemo(memo),
      ...readBudget(limit, price),
      ...readMarker(create, feePayer),
      ...(transfer.program === SYSTEM_PROGRAM
        ? readNativeTransfer(transfer, wallet)
        : readTokenTransfer(transfer, wallet)),
    }
    const named = [create, memo, transfer].flatMap(({ accounts }) => accounts)
    assert(named.filter((account) => account === feePayer).length === 1)
    return terms
  } catch {
    return undefined
  }
}

function assert(condition: boolean): asserts condition {
  if (!condition) throw new TypeError('Not an input')
}

function readBudget(limit: ReadInstruction, price: ReadInstruction) {
  assert(limit.program === COMPUTE_BUDGET_PROGRAM_ADDRESS && limit.data.length === 5 && limit.data[0] === 2)
  assert(price.program === COMPUTE_BUDGET_PROGRAM_ADDRESS && price.data.length === 9 && price.data[0] === 3)
  assert(limit.accounts.length === 0 && price.accounts.length === 0)
  return {
    computeUnits: getSetComputeUnitLimitInstructionDataDecoder().decode(limit.data).units,
    microLamportsPerUnit: getSetComputeUnitPriceInstructionDataDecoder().decode(price.data).microLamports,
  }
}

function readMarker({ program, accounts, data }: ReadInstruction, feePayer: string) {
  const create = getCreateAccountWithSeedInstructionDataDecoder().decode(data)
  assert(program === SYSTEM_PROGRAM && create.discriminator === 3)
  assert(equalBytes(getCreateAccountWithSeedInstructionDataEncoder().encode(create), data))
  assert(create.base === feePayer && create.space === 0n && create.programAddress === SYSTEM_PROGRAM)
  const [payer, marker] = accounts
  assert(accounts.length === 2 && payer === feePayer && marker !== undefined)
  return { marker, markerLamports: create.amount }
}

function readMemo({ program, accounts, data }: ReadInstruction): string {
  const memo = new TextDecoder().decode(Uint8Array.from(data))
  assert(program === MEMO_PROGRAM && accounts.length === 0 && /^[0-9a-f]{64}$/.test(memo))
  return memo
}

function readNativeTransfer({ accounts, data }: ReadInstruction, wallet: string) {
  const transfer = getTransferSolInstructionDataDecoder().decode(data)
  assert(transfer.discriminator === 2)
  assert(equalBytes(getTransferSolInstructionDataEncoder().encode(transfer), data))
  const [source, destination] = accounts
  assert(accounts.length === 2 && source === wallet && destination !== undefined)
  return { token: NATIVE_SOL, amount: transfer.amount, source, destination }
}

function readTokenTransfer({ program, accounts, data }: ReadInstruction, wallet: string) {
  const transfer = getTransferCheckedInstructionDataDecoder().decode(data)
  assert(TOKEN_PROGRAMS.includes(program as Address) && transfer.discriminator === 12)
  assert(equalBytes(getTransferCheckedInstructionDataEncoder().encode(transfer), data))
  const [source, token, destination, authority] = accounts
  assert(accounts.length === 4 && authority === wallet)
  assert(source !== undefined && token !== undefined && destination !== undefined)
  return { token, amount: transfer.amount, source, destination }
}

/** The decoded terms as plain JSON, for the wallet's owner to read. */
export function describeInput(unsignedTransaction: string): Record<string, string | number> {
  const wire = fromBase64(unsignedTransaction)
  const split = wire && splitWire(wire, { count: INPUT_SIGNERS })
  const terms = split && readInputTerms(split.message)
  if (!terms) throw new TypeError('Not an input')
  return {
    ...terms,
    amount: String(terms.amount),
    microLamportsPerUnit: String(terms.microLamportsPerUnit),
    markerLamports: String(terms.markerLamports),
  }
}
