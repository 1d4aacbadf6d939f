import { isSweepable, type Marker, SWEEP_MARGIN_SECONDS, sweepInstruction } from '@geoswap/solana-escrow'
import { type Address, getBase58Decoder } from '@solana/kit'
import type { Signed } from '../chain.ts'
import { toBase64 } from './bytes.ts'
import { readMarkers } from './deliveries.ts'
import { SWEEP_UNITS } from './fees.ts'
import type { SolanaBlock } from './heads.ts'
import { budgetInstructions, compile, joinWire, splitWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import type { SweepRequest } from './plans.ts'
import { type SolanaSigner, signMessage } from './settings.ts'
import type { TransferTerms } from './transfer.ts'

/** For how long after its deadline a marker cannot be closed. */
export const sweepMarginSeconds = Number(SWEEP_MARGIN_SECONDS)

/** The deliveries among these whose marker exists and may be closed. */
export async function findSweepable(
  parts: SolanaParts,
  deliveryHashes: readonly string[],
  at: SolanaBlock,
): Promise<string[]> {
  const markers = await readMarkers(parts, deliveryHashes, at)
  const { delivery } = parts.settings.feePayers
  const isOurs = (marker: Marker | undefined) =>
    marker !== undefined && marker.payer === delivery && isSweepable(marker, BigInt(at.seconds))
  return deliveryHashes.filter((_, index) => isOurs(markers[index]))
}

/** Closes markers of deliveries, whose rent goes back to the fee payer. */
export async function signSweep(
  { settings, addresses }: SolanaParts,
  feePayer: SolanaSigner,
  { markers }: SweepRequest,
  { lifetime, microLamportsPerUnit }: TransferTerms,
): Promise<Signed> {
  const program = settings.program as Address
  const accounts = await Promise.all(markers.map((hash) => addresses.markerOf(hash)))
  const wire = compile({
    feePayer: feePayer.address,
    lifetime,
    instructions: [
      ...budgetInstructions({ units: SWEEP_UNITS * (markers.length + 1), microLamportsPerUnit }),
      ...accounts.map((marker) =>
        sweepInstruction(program, { marker: marker as Address, payer: feePayer.address }),
      ),
    ],
  })
  const message = splitWire(wire, { count: 1 })?.message
  if (!message) throw new Error('A sweep is signed by its fee payer alone')
  const signature = await signMessage(feePayer, message)
  return {
    raw: toBase64(joinWire([signature], message)),
    txHash: getBase58Decoder().decode(signature),
    lastValid: lifetime.lastValidBlockHeight,
  }
}
