import type { QuoteReply, TokenEntry } from '@geoswap/sdk'
import { readUsd } from '../amounts.ts'

type Offer = Pick<QuoteReply, 'input' | 'minOutput' | 'inputUsd' | 'outputUsd'>
type Side = Pick<TokenEntry, 'asset' | 'decimals'>

const BPS = 10_000n
const HIGH_LOSS_BPS = 500

/** The part of the value that is lost, in basis points. Undefined if the quote does not say. */
export function lossOf(offer: Offer, input: Side, output: Side): number | undefined {
  const losses = [
    lossByUsd(offer),
    input.asset === output.asset ? lossOfAsset(offer, input, output) : undefined,
  ]
  const known = losses.filter((loss) => loss !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** By the service's figures. */
function lossByUsd({ inputUsd, outputUsd }: Offer): number | undefined {
  const paid = readUsd(inputUsd)
  const got = readUsd(outputUsd)
  return paid === undefined || got === undefined ? undefined : bpsOf(paid, got)
}

/** By what is signed: input and guaranteed output need no price if they are the same asset. */
function lossOfAsset({ input, minOutput }: Offer, from: Side, to: Side): number {
  return bpsOf(BigInt(input) * 10n ** BigInt(to.decimals), BigInt(minOutput) * 10n ** BigInt(from.decimals))
}

function bpsOf(paid: bigint, got: bigint): number {
  return paid === 0n ? 0 : Number(((paid - got) * BPS) / paid)
}

/** A loss that is probably a mistake, and an unknown one, must be confirmed. */
export function needsConfirmation(loss: number | undefined): boolean {
  return loss === undefined || loss > HIGH_LOSS_BPS
}
