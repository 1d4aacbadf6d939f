import { getBase58Decoder, signBytes } from '@solana/kit'
import type { Signed } from '../chain.ts'
import { readAttested } from './attested.ts'
import { toBase64 } from './bytes.ts'
import { feeLamports, PAYMENT_UNITS, unitsWithMargin } from './fees.ts'
import { readBudget } from './input-terms.ts'
import { joinWire, readMessage } from './message.ts'
import type { SolanaParts } from './parts.ts'
import type { AttestedRequest } from './plans.ts'
import { mostOf } from './priority.ts'
import type { SolanaSigner } from './signer.ts'

/** Adds the fee payer's signature to a claim or refund, whose content its plan compared with the op. */
export async function cosignPayout(
  { settings }: Pick<SolanaParts, 'settings'>,
  feePayer: SolanaSigner,
  request: AttestedRequest,
): Promise<Signed> {
  const attested = readAttested(request.attested)
  const read = attested && readMessage(attested.message)
  const [limit, price] = read?.instructions ?? []
  const budget = limit && price && readBudget(limit, price)
  if (!attested || !budget || read?.signers[0] !== feePayer.address)
    throw new TypeError('Not a transaction that this fee payer pays for')
  const most = feeLamports(unitsWithMargin(PAYMENT_UNITS), mostOf(settings.priorityPrice))
  if (feeLamports(budget.computeUnits, budget.microLamportsPerUnit) > most)
    throw new RangeError('The transaction costs more than its fee payer may spend')
  const signature = await signBytes(feePayer.keyPair.privateKey, attested.message)
  return {
    raw: toBase64(joinWire([signature, attested.signature], attested.message)),
    txHash: getBase58Decoder().decode(signature),
    lastValid: attested.lastValid,
  }
}
