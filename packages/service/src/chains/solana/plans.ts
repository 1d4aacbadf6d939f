import { toIndex } from '@geoswap/protocol'
import { createAccountInstruction, deliverInstruction, type OpId, type Order } from '@geoswap/solana-escrow'
import { type Address, getBase58Decoder } from '@solana/kit'
import { isPayment, type Op, type Swap } from '../../swap/swap.ts'
import { isNative, type Token } from './accounts.ts'
import { isPayout, type Payout, readAttested } from './attested.ts'
import { toBase64 } from './bytes.ts'
import { opIdOf, toProgramToken } from './facts.ts'
import { accountUnits, inputBoundLamports, markerUnits, paymentUnits, unitsWithMargin } from './fees.ts'
import { AHEAD_BLOCKS, type Lifetime, NO_LIFETIME, readBlockHeight } from './heads.ts'
import { budgetInstructions, compile, joinWire, memoInstruction, splitWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { type SolanaChainSettings, type SolanaSigner, signMessage } from './settings.ts'
import type { SignedTransaction } from './signed-input.ts'
import { simulate } from './simulate.ts'
import type { TransferRequest } from './transfer.ts'

export type InputRequest = {
  /** `paidInput`: its account is created before. */
  kind: 'input' | 'paidInput'
  signedTransaction: string
  lastValid: string
  /** The most that the fee payer may spend on it. */
  maxCostLamports: string
}

/** A delivery before it is signed. Amounts as text, stored as JSON. */
export type PaymentRequest = {
  kind: 'deliver'
  id: string
  to: string
  mint: string
  amount: string
  fillDeadline: number
  order: { ring: OpId; index: string; destinationChain: string; minOutput: string }
  createsAccount: boolean
  units?: number
}

/** A claim or refund that the attester signed, for the fee payer to sign. */
export type AttestedRequest = { kind: Payout['kind']; attested: string }

/** A refund after its deadline, which needs no attester: the terms of its escrow. */
export type PublicRefundRequest = { kind: 'publicRefund'; inputAmount: string } & Omit<
  Payout['op'],
  'inputAmount'
>

export type SweepRequest = { kind: 'sweep'; markers: readonly string[] }

export type SolanaRequest =
  | InputRequest
  | PaymentRequest
  | AttestedRequest
  | PublicRefundRequest
  | SweepRequest
  | TransferRequest

export async function planInput({ settings, facts }: SolanaParts, swap: Swap): Promise<InputRequest> {
  const rent = await facts.rent()
  return {
    kind: isPayment(swap.op) ? 'paidInput' : 'input',
    signedTransaction: swap.signature,
    lastValid: String(swap.lastValid ?? 0n),
    maxCostLamports: String(inputBoundLamports(rent, settings.priorityPrice.cap)),
  }
}

export async function planDelivery(parts: SolanaParts, op: Op): Promise<PaymentRequest> {
  const request: PaymentRequest = {
    kind: 'deliver',
    id: op.deliveryHash,
    to: op.recipient,
    mint: op.outputToken,
    amount: String(op.quotedOutput),
    fillDeadline: op.fillDeadline,
    order: {
      ring: parts.ringOf(op),
      index: String(toIndex(op)),
      destinationChain: String(op.destinationChain),
      minOutput: String(op.minOutput),
    },
    createsAccount: op.createsAccount,
  }
  const units = await unitsOf(parts, request)
  return { ...request, units }
}

/** The units of a new account and of a marker depend on their addresses: they are measured without and added. */
async function unitsOf(parts: SolanaParts, request: PaymentRequest): Promise<number | undefined> {
  const { id: deliveryHash, mint, to, createsAccount } = request
  const { program, vault } = parts.settings
  const ofAccount = createsAccount ? await accountUnits(to, await parts.facts.tokenOf(mint)) : 0
  const added = ofAccount + (await markerUnits(program, { vault, deliveryHash }))
  const shape = `deliver of ${mint}${createsAccount ? ' to a new account' : ''}`
  const measure = async () => {
    const used = await measureUnits(parts, request)
    return used === undefined ? undefined : used - added
  }
  const base = await parts.facts.unitsOf(shape, measure)
  return base === undefined ? undefined : unitsWithMargin(base + added)
}

/** Undefined if the simulation fails now: then the default limit applies. */
async function measureUnits(parts: SolanaParts, request: PaymentRequest): Promise<number | undefined> {
  const priced = { lifetime: NO_LIFETIME, microLamportsPerUnit: parts.settings.priorityPrice.floor }
  const raw = toBase64(await compileDelivery(parts, request, priced))
  const tried = await simulate(parts.client, { raw, replaceBlockhash: true })
  return tried.kind === 'ok' ? Number(tried.units) : undefined
}

// A transaction that has fewer blocks left might expire before it lands: the majority may be behind by some of them.
const LEAST_BLOCKS = AHEAD_BLOCKS + 30n

/** Undefined if the attested transaction is about to expire: the attester signs another one. */
export async function planPayout(
  parts: SolanaParts,
  payout: Payout,
  text: string,
): Promise<AttestedRequest | undefined> {
  const attested = readAttested(text)
  if (!attested || !(await isPayout(parts, payout, attested)))
    throw new Error(`The attester did not sign this ${payout.kind}`)
  const height = await readBlockHeight(parts.client)
  return height + LEAST_BLOCKS > attested.lastValid ? undefined : { kind: payout.kind, attested: text }
}

export function planPublicRefund(op: Payout['op']): PublicRefundRequest {
  const { hash, wallet, locker, refundDeadline, inputToken, inputAmount } = op
  const terms = { hash, wallet, locker, refundDeadline, inputToken }
  return { kind: 'publicRefund', ...terms, inputAmount: String(inputAmount) }
}

export async function compileDelivery(
  { settings, facts }: SolanaParts,
  request: PaymentRequest,
  priced: Pick<Payment, 'lifetime' | 'microLamportsPerUnit'>,
): Promise<Uint8Array> {
  const [rent, token] = await Promise.all([facts.rent(), facts.tokenOf(request.mint)])
  const { program, vault, feePayers } = settings
  const payers = { program, vault, feePayer: feePayers.delivery, markerLamports: rent.markerLamports }
  const { ring, index, destinationChain, minOutput } = request.order
  return compilePayment(payers, {
    deliveryHash: request.id,
    to: request.to,
    token,
    amount: BigInt(request.amount),
    order: {
      ring,
      index: BigInt(index),
      destinationChain: BigInt(destinationChain),
      minOutput: BigInt(minOutput),
      fillDeadline: BigInt(request.fillDeadline),
    },
    createRecipientAccount: request.createsAccount,
    units: request.units,
    ...priced,
  })
}

type Payers = Pick<SolanaChainSettings, 'program' | 'vault'> & { feePayer: string; markerLamports: bigint }

export type Payment = {
  deliveryHash: string
  /** The paid wallet, not its token account. */
  to: string
  token: Token
  amount: bigint
  /** The other terms that the wallet signed. The program refuses to pay others, or later. */
  order: Order
  /** Pays the rent of the recipient's token account if it is still missing when this lands. */
  createRecipientAccount?: boolean
  /** The compute limit from a simulation; by default a limit that suffices for every payment. */
  units?: number
  microLamportsPerUnit: bigint
  lifetime: Lifetime
}

/** Compiles a delivery without signatures. Of all payments of one delivery at most one lands: it creates the marker. */
export async function compilePayment(payers: Payers, payment: Payment): Promise<Uint8Array> {
  const { program, vault, feePayer, markerLamports } = payers
  const { deliveryHash, to, token, amount, order, microLamportsPerUnit, lifetime } = payment
  if (feePayer === vault || feePayer === to) throw new Error('The fee payer takes no part in a swap')
  const createAccount = payment.createRecipientAccount === true && !isNative(token)
  const delivery = {
    opId: opIdOf(deliveryHash),
    token: toProgramToken(token),
    amount,
    markerLamports,
    vault: vault as Address,
    payer: feePayer as Address,
    recipient: to as Address,
    order,
  }
  const units =
    payment.units ?? paymentUnits({ createAccount }) + (await markerUnits(program, { vault, deliveryHash }))
  return compile({
    feePayer,
    lifetime,
    instructions: [
      ...budgetInstructions({ units, microLamportsPerUnit }),
      memoInstruction(deliveryHash),
      ...(createAccount
        ? [
            await createAccountInstruction({
              payer: delivery.payer,
              owner: delivery.recipient,
              token: delivery.token,
            }),
          ]
        : []),
      await deliverInstruction(program as Address, delivery),
    ],
  })
}

/** Adds the signatures of fee payer and vault to a compiled payment. */
export async function signPayment(
  wire: Uint8Array,
  [feePayer, vault]: readonly [SolanaSigner, SolanaSigner],
): Promise<SignedTransaction> {
  const message = splitWire(wire, { count: 2 })?.message
  if (!message) throw new Error('A payment is signed by the fee payer and the vault')
  const [first, second] = await Promise.all([signMessage(feePayer, message), signMessage(vault, message)])
  return { raw: toBase64(joinWire([first, second], message)), txHash: getBase58Decoder().decode(first) }
}
