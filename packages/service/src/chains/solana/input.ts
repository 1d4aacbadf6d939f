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
  /** Addresses only: nothing is signed here. */
  feePayer: string
  intake: string
  markerKey: Uint8Array
  /** Stays 0 for all builds of an op, so that only one of them can land. */
  generation?: number
  rent: Rent
  /** The compute limit, from a simulation; without one, what every input can do with. */
  units?: number
  microLamportsPerUnit: bigint
  lifetime: Lifetime
}

export type BuiltInput = {
  /** Base64 of the wire transaction: what the wallet signs, with zeros where signatures go. */
  unsignedTransaction: string
  /** SHA-256 of the message, hex: what is sealed, and compared at submit. */
  messageHash: string
  lastValidBlockHeight: bigint
  marker: Marker
}

/** The transaction that moves the input from the wallet to the intake vault; the service pays for it. */
export async function buildInput(request: InputRequest): Promise<BuiltInput> {
  const { wallet, feePayer, intake, opHash, lifetime, rent } = request
  // A fee payer that owned or received anything could be made to pay for more than fees.
  if (wallet === feePayer || intake === feePayer) throw new Error('The fee payer takes no part in a swap')
  const payer = createNoopSigner(feePayer as Address)
  const marker = await toMarker({
    ...{ key: request.markerKey, opHash, kind: 'input', generation: request.generation ?? 0 },
    base: feePayer,
  })
  const wire = compile({
    ...{ feePayer, lifetime },
    instructions: [
      ...budgetInstructions({
        units: request.units ?? INPUT_UNITS,
        microLamportsPerUnit: request.microLamportsPerUnit,
      }),
      createMarkerInstruction({ marker, payer, base: payer, lamports: rent.emptyLamports }),
      memoInstruction(opHash),
      await transferInstruction({
        ...{ from: createNoopSigner(wallet as Address), to: intake },
        ...{ token: request.token, amount: request.amount },
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
