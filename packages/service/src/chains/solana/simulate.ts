import type { Address, Base64EncodedWireTransaction } from '@solana/kit'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { SYSTEM_PROGRAM, TOKEN_PROGRAMS } from './accounts.ts'
import { fromBase64 } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import { type ReadMessage, readMessage, splitWire } from './message.ts'

/**
 * Why a transaction would fail now. `recipient`: one of its token accounts is frozen, closed or changed, or the native
 * recipient would end below the rent minimum. `other` includes a lack of funds of the fee payer.
 */
type SolanaSimulation =
  | { kind: 'ok'; units: bigint }
  | { kind: 'insufficientFunds' | 'recipient' | 'blockhash' | 'alreadyInUse' | 'other' }

type Simulate = {
  /** With or without signatures, which are not verified. */
  raw: string
  /** Simulates with the newest blockhash. */
  replaceBlockhash: boolean
  /** A node behind this slot refuses to answer. */
  minContextSlot?: bigint
}

export async function simulate(
  { rpc }: SolanaClient,
  { raw, replaceBlockhash, minContextSlot }: Simulate,
): Promise<SolanaSimulation> {
  const options = {
    encoding: 'base64',
    commitment: 'confirmed',
    sigVerify: false,
    ...(minContextSlot !== undefined && { minContextSlot }),
  } as const
  const wire = raw as Base64EncodedWireTransaction
  const { value } = await (replaceBlockhash
    ? rpc.simulateTransaction(wire, { ...options, replaceRecentBlockhash: true }).send()
    : rpc.simulateTransaction(wire, options).send())
  if (value.err === null) return { kind: 'ok', units: value.unitsConsumed ?? 0n }
  return { kind: classify(value.err, readRaw(raw)) }
}

function readRaw(raw: string): ReadMessage | undefined {
  const wire = fromBase64(raw)
  const split = wire && splitWire(wire, { count: wire[0] ?? 0 })
  return split && readMessage(split.message)
}

type Failure = Exclude<SolanaSimulation['kind'], 'ok'>

/** Maps the node's errors; the logs, which contain addresses and amounts, are not passed on. */
function classify(error: unknown, message: ReadMessage | undefined): Failure {
  if (error === 'BlockhashNotFound') return 'blockhash'
  if (error === 'AlreadyProcessed') return 'alreadyInUse'
  if (typeof error !== 'object' || error === null || !message) return 'other'
  if ('InsufficientFundsForRent' in error) return classifyRent(error.InsufficientFundsForRent, message)
  if (!('InstructionError' in error)) return 'other'
  const [index, cause] = error.InstructionError as [number | bigint, unknown]
  return classifyInstruction({ index: Number(index), code: codeOf(cause) }, message)
}

function codeOf(cause: unknown): number | undefined {
  if (typeof cause !== 'object' || cause === null || !('Custom' in cause)) return undefined
  return Number(cause.Custom)
}

/** The native recipient of a transfer or delivery, or the payer of lamports, would end below the rent minimum. */
function classifyRent(detail: unknown, { accounts, instructions }: ReadMessage): Failure {
  const { account_index: index } = detail as { account_index: number | bigint }
  const poor = accounts[Number(index)]
  const transfer = instructions.findLast(({ program }) => program === SYSTEM_PROGRAM)
  const [source, destination] = transfer?.accounts ?? []
  if (poor === source) return 'insufficientFunds'
  return poor === destination ? 'recipient' : 'other'
}

function classifyInstruction(
  { index, code }: { index: number; code: number | undefined },
  { instructions }: ReadMessage,
): Failure {
  const { program, data } = instructions[index] ?? {}
  if (program === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) return classifyCreation(data?.[0], code)
  // CreateAccountWithSeed: the account exists.
  if (program === SYSTEM_PROGRAM && data?.[0] === 3) return code === 0 ? 'alreadyInUse' : 'other'
  // Error 1 of the System program and both token programs: insufficient funds at the source.
  if (code === 1) return 'insufficientFunds'
  return TOKEN_PROGRAMS.includes(program as Address) ? 'recipient' : 'other'
}

/** An input's account is created by kind 0, which fails if it exists; a recipient's by kind 1, unless it exists. */
function classifyCreation(kind: number | undefined, code: number | undefined): Failure {
  if (code === 1) return 'other'
  return kind === 0 ? 'alreadyInUse' : 'recipient'
}
