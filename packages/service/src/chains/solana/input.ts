import { lockInstructions } from '@geoswap/solana-escrow'
import { type Address, getU64Decoder, type Instruction } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget'
import { createMemory } from '../../async/cache.ts'
import type { LockRef } from '../chain.ts'
import { NATIVE_TOKEN, SYSTEM_PROGRAM, TOKEN_PROGRAMS, type Token } from './accounts.ts'
import { fromBase64, sha256Hex, toBase64 } from './bytes.ts'
import { termsOf, toProgramToken } from './facts.ts'
import { INPUT_UNITS } from './fees.ts'
import type { Lifetime } from './heads.ts'
import {
  budgetInstructions,
  compile,
  equalBytes,
  MEMO_PROGRAM,
  memoInstruction,
  type ReadInstruction,
  type ReadMessage,
  readMessage,
  splitWire,
} from './message.ts'
import type { SolanaParts } from './parts.ts'
import type { SolanaChainSettings } from './settings.ts'

type Escrow = Pick<SolanaChainSettings, 'program' | 'vault' | 'attester'>

/** An input before it is priced. */
type Input = {
  opHash: string
  wallet: string
  token: Token
  amount: bigint
  /** Pays fee and rent, and gets the rent back. An address only: nothing is signed here. */
  feePayer: string
  refundDeadline: number
}

export type InputRequest = Input & {
  /** The compute limit from a simulation; by default a limit that suffices for nearly every input. */
  units?: number
  microLamportsPerUnit: bigint
  lifetime: Lifetime
}

type BuiltInput = {
  /** Base64 of the wire transaction that the wallet signs, with zeros for the signatures. */
  unsignedTransaction: string
  /** SHA-256 of the message in hex, sealed at build and compared at submit. */
  messageHash: string
  lastValidBlockHeight: bigint
}

/** Builds the transaction that moves the input from the wallet into its escrow account; the service pays the fee. */
export async function buildInput(escrow: Escrow, request: InputRequest): Promise<BuiltInput> {
  const { feePayer, lifetime, units = INPUT_UNITS, microLamportsPerUnit } = request
  const budget = budgetInstructions({ units, microLamportsPerUnit })
  const instructions = [...budget, ...(await inputInstructions(escrow, request))]
  const wire = compile({ feePayer, lifetime, instructions })
  const message = splitWire(wire, { count: INPUT_SIGNERS })?.message
  if (!message) throw new Error('An input is signed by the fee payer and the wallet')
  return {
    unsignedTransaction: toBase64(wire),
    messageHash: await sha256Hex(message),
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  }
}

/** All instructions after those of the compute budget: memo, new account, transfer. */
export async function inputInstructions(escrow: Escrow, input: Input): Promise<Instruction[]> {
  const { opHash, wallet, token, amount, feePayer, refundDeadline } = input
  const op = { hash: opHash, wallet, locker: feePayer, refundDeadline, inputAmount: amount }
  const terms = termsOf(escrow, op)
  const lock = { terms, token: toProgramToken(token), payer: feePayer as Address }
  // With the memo alone, anyone can find the terms again and refund the input after its deadline.
  return [
    memoInstruction(opHash, refundDeadline),
    ...(await lockInstructions(escrow.program as Address, lock)),
  ]
}

/** The fee payer, then the wallet. */
export const INPUT_SIGNERS = 2

type Settings = Pick<SolanaParts['settings'], 'program' | 'vault' | 'attester'>
type NamedSettings = Settings & Pick<SolanaParts['settings'], 'chainId'>

/** The full effect of an input transaction, decoded from its bytes. */
export type InputTerms = {
  feePayer: string
  wallet: string
  /** The op's hash, 64 hex digits. */
  opId: string
  /** After it, anyone may refund the input. */
  refundDeadline: number
  blockhash: string
  computeUnits: number
  microLamportsPerUnit: bigint
  /** The mint, or the System program for the native coin. */
  token: string
  tokenProgram: string
  /** As the transaction says: of a payment its payer wrote program and decimals. */
  decimals: number
  amount: bigint
  /** The escrow's account, which the program controls. */
  destination: string
}

/**
 * Undefined for any message that is not exactly an input, or a payment of one: another instruction, account, order or
 * encoding. A payment moves the same tokens to the same account, which exists already, and names the op afterwards.
 */
export async function readInputTerms(
  settings: Settings,
  message: ReadMessage,
): Promise<InputTerms | undefined> {
  const [feePayer, wallet, ...others] = message.signers
  const [limit, price, ...rest] = message.instructions
  if (!feePayer || !wallet || others.length > 0 || !limit || !price) return undefined
  const budget = readBudget(limit, price)
  const isPaid = isPaidInput(message)
  const named = readMemo(rest[isPaid ? 1 : 0])
  const moved = readMoved(rest[isPaid ? 0 : 2])
  if (!budget || !named || !moved) return undefined
  const { token, amount } = moved
  const input = { ...named, opHash: `0x${named.opId}`, wallet, feePayer, token, amount }
  const built = await inputInstructions(settings, input).catch(() => undefined)
  const expected = isPaid ? built && toPayment(built) : built
  if (!expected || !isSame(rest, expected)) return undefined
  const destination = built?.[1]?.accounts?.[1]?.address ?? ''
  return {
    feePayer,
    wallet,
    ...named,
    blockhash: message.blockhash,
    ...budget,
    token: token.mint,
    tokenProgram: token.program,
    decimals: token.decimals,
    amount,
    destination,
  }
}

/** Whether a message with the terms of an input is a payment: only then its account has to exist before. */
export const isPaidInput = ({ instructions }: ReadMessage): boolean => instructions.length === 4

/** Of the instructions that lock a token: the transfer, then the memo. None for native coin. */
const toPayment = ([memo, , transfer, ...native]: readonly Instruction[]): Instruction[] | undefined =>
  memo && transfer && native.length === 0 ? [transfer, memo] : undefined

type Read = Promise<InputTerms | undefined>
const memories = new WeakMap<Settings, ReturnType<typeof createMemory<Read>>>()

/** The same for the bytes of a message. Reads each once: the same input is checked before its lock and delivery. */
export function readInputMessage(settings: Settings, bytes: Uint8Array): Read {
  const remember = memories.get(settings) ?? createMemory<Read>()
  memories.set(settings, remember)
  return remember(toBase64(bytes), async () => {
    const message = readMessage(bytes)
    return message && readInputTerms(settings, message)
  })
}

/** Whether this transaction took the input of this op. */
export async function isInputOf(
  { settings }: Pick<SolanaParts, 'settings'>,
  op: LockRef,
  transaction: ReadMessage,
): Promise<boolean> {
  const terms = await readInputTerms(settings, transaction)
  return terms !== undefined && isOfOp(op, terms)
}

export function isOfOp(op: LockRef, terms: InputTerms): boolean {
  return (
    `0x${terms.opId}` === op.hash &&
    terms.feePayer === op.locker &&
    terms.wallet === op.wallet &&
    terms.token === op.inputToken &&
    terms.amount === op.inputAmount &&
    terms.refundDeadline === op.refundDeadline
  )
}

/** The limit and price of a transaction's compute units; undefined if these two do not set them. */
export function readBudget(limit: ReadInstruction, price: ReadInstruction) {
  const isBudget = ({ program, accounts, data }: ReadInstruction, kind: number, bytes: number) =>
    program === COMPUTE_BUDGET_PROGRAM_ADDRESS &&
    accounts.length === 0 &&
    data.length === bytes &&
    data[0] === kind
  if (!isBudget(limit, 2, 5) || !isBudget(price, 3, 9)) return undefined
  return {
    computeUnits: getSetComputeUnitLimitInstructionDataDecoder().decode(limit.data).units,
    microLamportsPerUnit: getSetComputeUnitPriceInstructionDataDecoder().decode(price.data).microLamports,
  }
}

function readMemo(instruction: ReadInstruction | undefined) {
  if (instruction?.program !== MEMO_PROGRAM) return undefined
  const memo = new TextDecoder().decode(Uint8Array.from(instruction.data))
  const [, opId, refundDeadline] = /^([0-9a-f]{64}) ([1-9]\d{0,11})$/.exec(memo) ?? []
  return opId && refundDeadline ? { opId, refundDeadline: Number(refundDeadline) } : undefined
}

/** Token and amount of the transfer. All other fields are compared with the instruction that these two give. */
function readMoved(transfer: ReadInstruction | undefined): { token: Token; amount: bigint } | undefined {
  if (!transfer) return undefined
  const { program, accounts, data } = transfer
  if (program === SYSTEM_PROGRAM && data.length === 12)
    return { token: NATIVE_TOKEN, amount: getU64Decoder().decode(data.slice(4)) }
  const mint = accounts[1]
  if (!TOKEN_PROGRAMS.includes(program as Address) || mint === undefined || data.length !== 10)
    return undefined
  const token = { mint, program, decimals: data[9] ?? 0 }
  return { token, amount: getU64Decoder().decode(data.slice(1, 9)) }
}

/** Whether instructions have the same programs, accounts and data, in the same order. */
export function isSame(read: readonly ReadInstruction[], expected: readonly Instruction[]): boolean {
  return (
    read.length === expected.length &&
    read.every(({ program, accounts, data }, index) => {
      const other = expected[index]
      const named = other?.accounts ?? []
      return (
        program === other?.programAddress &&
        accounts.length === named.length &&
        accounts.every((account, at) => account === named[at]?.address) &&
        equalBytes(data, other.data ?? new Uint8Array())
      )
    })
  )
}

/** Reads a wire transaction with the terms of an input. */
export async function readInputWire(settings: Settings, transaction: string) {
  const wire = fromBase64(transaction)
  const split = wire && splitWire(wire, { count: INPUT_SIGNERS })
  const terms = split && (await readInputMessage(settings, split.message))
  return terms && { ...split, terms }
}

/** The decoded terms as plain JSON, for the wallet's owner to read. */
export async function describeInput(
  settings: NamedSettings,
  unsignedTransaction: string,
): Promise<Record<string, string | number>> {
  const read = await readInputWire(settings, unsignedTransaction)
  if (!read) throw new TypeError('Not an input')
  const { decimals: _, ...terms } = read.terms
  const { chainId, program, vault, attester } = settings
  return {
    chainId,
    ...terms,
    program,
    vault,
    attester,
    amount: String(terms.amount),
    microLamportsPerUnit: String(terms.microLamportsPerUnit),
  }
}
