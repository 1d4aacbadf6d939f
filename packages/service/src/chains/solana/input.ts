import { type Address, createNoopSigner } from '@solana/kit'
import { sha256Hex, toBase64 } from './bytes.ts'
import { INPUT_UNITS } from './fees.ts'
import type { Lifetime } from './heads.ts'
import { budgetInstructions, memoInstruction, transferInstruction } from './instructions.ts'
import { createMarkerInstruction, type Marker, toMarker } from './marker.ts'
import { compile, splitWire } from './message.ts'
import type { Token } from './mint.ts'
import type { Rent } from './rent.ts'

export type InputRequest = {
  opHash: string
  wallet: string
  token: Token
  amount: bigint
  /** An address only: nothing is signed here. */
  feePayer: string
  intake: string
  markerKey: Uint8Array
  /** Stays 0 for all builds of an op, so that only one of them can land. */
  generation?: number
  rent: Rent
  /** The compute limit from a simulation; by default a limit that suffices for every input. */
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
  marker: Marker
}

/** Builds the transaction that moves the input from the wallet to the intake vault; the service pays the fee. */
export async function buildInput(request: InputRequest): Promise<BuiltInput> {
  const { wallet, feePayer, intake, opHash, lifetime, rent } = request
  // A fee payer that owned or received tokens could be made to pay more than fees.
  if (wallet === feePayer || intake === feePayer) throw new Error('The fee payer takes no part in a swap')
  const payer = createNoopSigner(feePayer as Address)
  const marker = await toMarker({
    key: request.markerKey,
    opHash,
    kind: 'input',
    generation: request.generation ?? 0,
    base: feePayer,
  })
  const wire = compile({
    feePayer,
    lifetime,
    instructions: [
      ...budgetInstructions({
        units: request.units ?? INPUT_UNITS,
        microLamportsPerUnit: request.microLamportsPerUnit,
      }),
      createMarkerInstruction({ marker, payer, base: payer, lamports: rent.emptyLamports }),
      memoInstruction(opHash),
      await transferInstruction({
        from: createNoopSigner(wallet as Address),
        to: intake,
        token: request.token,
        amount: request.amount,
      }),
    ],
  })
  const message = splitWire(wire, { count: INPUT_SIGNERS })?.message
  if (!message) throw new Error('An input is signed by the fee payer and the wallet')
  return {
    unsignedTransaction: toBase64(wire),
    messageHash: await sha256Hex(message),
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
    marker,
  }
}

/** The fee payer, then the wallet. */
export const INPUT_SIGNERS = 2
