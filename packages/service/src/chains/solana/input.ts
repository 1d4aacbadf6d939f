import { lockInstructions } from '@geoswap/solana-escrow'
import type { Address, Instruction } from '@solana/kit'
import { sha256Hex, toBase64 } from './bytes.ts'
import { termsOf, toProgramToken } from './escrow.ts'
import { INPUT_UNITS } from './fees.ts'
import type { Lifetime } from './heads.ts'
import { budgetInstructions, memoInstruction } from './instructions.ts'
import { compile, splitWire } from './message.ts'
import type { Token } from './mint.ts'
import type { SolanaChainSettings } from './settings.ts'

type Escrow = Pick<SolanaChainSettings, 'program' | 'vault' | 'attester'>

/** An input before it is priced. */
export type Input = {
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

/** All instructions after those of the compute budget. */
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
