import type { AttesterSignature } from '@geoswap/protocol'
import type { Op, Swap } from '../../model/swap.ts'
import type { AttestedRefund } from '../chain.ts'
import { readBlocks } from './blocks.ts'
import { deliveryRef } from './deliveries.ts'
import { inputCostLamports, unitsWithMargin } from './fees.ts'
import { readLocks } from './locks.ts'
import type { MarkerRef } from './marker-book.ts'
import type { SolanaParts } from './parts.ts'
import { draftPayment, type Payment } from './payment.ts'
import { simulate } from './simulate.ts'
import type { TransferRequest } from './transfer.ts'

export type InputRequest = {
  kind: 'input'
  signedTransaction: string
  lastValid: string
  /** The most that the fee payer may spend on it. */
  maxCostLamports: string
}

/** A payment before it is signed. Amounts as text, stored as JSON. */
export type PaymentRequest = {
  kind: Payment['kind']
  id: string
  generation: number
  to: string
  mint: string
  amount: string
  createsAccount: boolean
  units?: number
}

export type SolanaRequest = InputRequest | PaymentRequest | TransferRequest

export async function planInput({ settings, facts }: SolanaParts, swap: Swap): Promise<InputRequest> {
  const rent = await facts.rent()
  const most = inputCostLamports({ rent, microLamportsPerUnit: settings.priorityPrice.cap })
  return {
    kind: 'input',
    signedTransaction: swap.signature,
    lastValid: String(swap.lastValid ?? 0n),
    maxCostLamports: String(most),
  }
}

export async function planDelivery(parts: SolanaParts, op: Op): Promise<PaymentRequest> {
  return planPayment(parts, deliveryRef(parts, op), {
    kind: 'deliver',
    to: op.recipient,
    mint: op.outputToken,
    amount: String(op.quotedOutput),
    createsAccount: op.createsAccount,
  })
}

/** Plans the claim of a delivered swap's input into the inventory. */
export async function planClaim(
  parts: SolanaParts,
  op: Op,
  signatures: readonly AttesterSignature[],
): Promise<PaymentRequest> {
  const { vaults, isAttested } = parts.settings
  if (!(await isAttested({ kind: 'claim', opHash: op.hash }, signatures)))
    throw new Error('The attesters did not sign this claim')
  return planFromIntake(parts, { kind: 'claim', op, to: vaults.inventory })
}

export async function planRefund(
  parts: SolanaParts,
  op: Op,
  attested: AttestedRefund | undefined,
): Promise<PaymentRequest> {
  if (!attested) throw new Error('A refund from the intake vault needs attesters')
  const { signatures, validUntil } = attested
  if (!(await parts.settings.isAttested({ kind: 'refund', opHash: op.hash, validUntil }, signatures)))
    throw new Error('The attesters did not sign this refund')
  const { head } = await readBlocks(parts.client)
  if (head.seconds > validUntil) throw new Error("The attesters' signatures of this refund have expired")
  return planFromIntake(parts, { kind: 'refund', op, to: op.wallet })
}

type FromIntake = { kind: 'claim' | 'refund'; op: Op; to: string }

/**
 * All inputs share one vault, so a payment under one op's id could take another's input. The marker prevents a second
 * exit of an op, but not a first one for an input that never arrived.
 */
async function planFromIntake(parts: SolanaParts, { kind, op, to }: FromIntake) {
  // A lagging node may miss an exit, which the marker then prevents, but cannot show an input that never existed.
  const state = (await readLocks(parts, [op], { commitment: 'confirmed', number: 0n })).get(op.hash)
  if (state !== 'locked') throw new Error(`The input of ${op.hash} is not in the intake vault: ${state}`)
  return planPayment(
    parts,
    { kind: 'exit', id: op.hash, base: parts.settings.vaults.intake },
    { kind, to, mint: op.inputToken, amount: String(op.inputAmount), createsAccount: false },
  )
}

type Unmarked = Omit<PaymentRequest, 'id' | 'generation' | 'units'>

async function planPayment(parts: SolanaParts, ref: MarkerRef, payment: Unmarked): Promise<PaymentRequest> {
  const generation = await parts.markers.nextGeneration(ref)
  if (generation === undefined) throw new Error(`The ${ref.kind} of ${ref.id} was already paid`)
  const request = { ...payment, id: ref.id, generation }
  const measure = () => measureUnits(parts, request)
  // The units of a new account depend on its address.
  const shape = `${payment.kind} of ${payment.mint}`
  const units = await (payment.createsAccount ? measure() : parts.facts.unitsOf(shape, measure))
  return { ...request, ...(units !== undefined && { units }) }
}

// A placeholder: the node inserts the newest blockhash when it simulates.
const NO_BLOCKHASH = '11111111111111111111111111111111'

/** Undefined if the simulation fails now: then the default limit applies. */
async function measureUnits(parts: SolanaParts, request: PaymentRequest): Promise<number | undefined> {
  const { feePayer, authority } = payersOf(parts, request.kind)
  const lifetime = { blockhash: NO_BLOCKHASH, lastValidBlockHeight: 0n }
  const draft = await draftPayment(
    { feePayer, authority, markerKey: parts.settings.markerKey, rent: await parts.facts.rent() },
    await toPayment(parts, request, { lifetime, microLamportsPerUnit: parts.settings.priorityPrice.floor }),
  )
  const tried = await simulate(parts.client, { raw: draft, replaceBlockhash: true })
  return tried.kind === 'ok' ? unitsWithMargin(tried.units) : undefined
}

/** The fee payer, and the vault that pays. */
export function payersOf({ settings: { feePayers, vaults } }: SolanaParts, kind: Payment['kind']) {
  return kind === 'deliver'
    ? { feePayer: feePayers.delivery, authority: vaults.inventory }
    : { feePayer: feePayers.input, authority: vaults.intake }
}

export async function toPayment(
  { facts }: SolanaParts,
  request: PaymentRequest,
  terms: Pick<Payment, 'lifetime' | 'microLamportsPerUnit'>,
): Promise<Payment> {
  return {
    kind: request.kind,
    opHash: request.id,
    generation: request.generation,
    to: request.to,
    token: await facts.tokenOf(request.mint),
    amount: BigInt(request.amount),
    createRecipientAccount: request.createsAccount,
    ...(request.units !== undefined && { units: request.units }),
    ...terms,
  }
}
