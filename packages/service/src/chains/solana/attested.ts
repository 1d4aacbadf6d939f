import { claimInstruction, decodeInputAccount, refundInstruction } from '@geoswap/solana-escrow'
import { type Address, getBase58Decoder, type Instruction } from '@solana/kit'
import type { Op } from '../../swap/swap.ts'
import type { Signed } from '../chain.ts'
import { readAccounts } from './accounts.ts'
import { fromBase64, toBase64 } from './bytes.ts'
import { claimBound, type LockedOp, termsOf, toProgramToken } from './facts.ts'
import { PAYMENT_UNITS, unitsWithMargin } from './fees.ts'
import { type Lifetime, NO_LIFETIME, readBlockhash } from './heads.ts'
import { isSame, readBudget } from './input.ts'
import {
  budgetInstructions,
  compile,
  joinWire,
  memoInstruction,
  readMessage,
  SIGNATURE_BYTES,
  splitWire,
} from './message.ts'
import type { SolanaParts } from './parts.ts'
import { readRecipient } from './recipient.ts'
import { type SolanaSigner, signMessage } from './settings.ts'
import { isSignedBy } from './signed-input.ts'
import { simulate } from './simulate.ts'

/** A claim or refund before the deadline. The attester and the fee payer of inputs sign it, in this order. */
export type Payout = { kind: 'claim' | 'refund'; op: LockedOp & Pick<Op, 'inputToken'> }

const SIGNERS = 2

async function payoutInstructions(
  { settings, facts }: SolanaParts,
  { kind, op }: Payout,
  { attested = true, keepRent = false }: { attested?: boolean; keepRent?: boolean } = {},
): Promise<Instruction[]> {
  const program = settings.program as Address
  const input = { terms: termsOf(settings, op), token: toProgramToken(await facts.tokenOf(op.inputToken)) }
  return [
    memoInstruction(op.hash),
    kind === 'claim'
      ? await claimInstruction(program, { ...input, keepRent })
      : await refundInstruction(program, { ...input, attested }),
  ]
}

type Priced = { units: number; microLamportsPerUnit: bigint; lifetime: Lifetime; keepRent?: boolean }

async function compilePayout(parts: SolanaParts, payout: Payout, { lifetime, keepRent, ...price }: Priced) {
  const moved = await payoutInstructions(parts, payout, { keepRent: keepRent === true })
  const instructions = [...budgetInstructions(price), ...moved]
  return compile({ feePayer: parts.settings.feePayers.input, lifetime, instructions })
}

/** Signs a claim or refund as the attester. It can land only while its blockhash is recent. */
export async function attestPayout(
  parts: SolanaParts,
  attester: SolanaSigner,
  payout: Payout,
): Promise<string> {
  const [lifetime, microLamportsPerUnit, rest] = await Promise.all([
    readBlockhash(parts.client),
    priceOf(parts, payout),
    payout.kind === 'claim' ? readRest(parts, payout.op) : 'none',
  ])
  const keepRent = rest === 'unpayable'
  const shape = `${payout.kind} of ${payout.op.inputToken}, rest ${rest}`
  const units =
    (await parts.facts.unitsOf(shape, () => measureUnits(parts, payout, keepRent))) ?? PAYMENT_UNITS
  const wire = await compilePayout(parts, payout, { units, microLamportsPerUnit, lifetime, keepRent })
  const message = splitWire(wire, { count: SIGNERS })?.message
  if (!message) throw new Error('A claim or refund is signed by the fee payer and the attester')
  const signature = await signMessage(attester, message)
  const signed = joinWire([new Uint8Array(SIGNATURE_BYTES), signature], message)
  return `${lifetime.lastValidBlockHeight}:${toBase64(signed)}`
}

function priceOf({ facts, settings }: SolanaParts, { kind, op }: Payout): Promise<bigint> {
  if (kind === 'refund') return facts.priorityPrice()
  return facts.priceUpTo(claimBound(settings.priorityPrice, op.refundDeadline, Date.now() / 1_000))
}

type Rest = 'none' | 'payable' | 'unpayable'

/**
 * A claim pays the wallet the rest, which strangers added. Where the wallet cannot receive it, it stays in the input's
 * account, which then stays open: nobody stops a claim by a gift.
 */
async function readRest({ client, facts, addresses }: SolanaParts, op: Payout['op']): Promise<Rest> {
  const [rent, token, input] = await Promise.all([
    facts.rent(),
    facts.tokenOf(op.inputToken),
    addresses.inputOf(op),
  ])
  const [account] = await readAccounts(client, { addresses: [input] })
  const held = account && decodeInputAccount({ programAddress: account.owner, data: account.data })
  const rest = (held?.amount ?? 0n) - op.inputAmount
  if (rest <= 0n) return 'none'
  const { kind } = await readRecipient(client, { recipient: op.wallet, token, amount: rest, rent })
  return kind === 'ready' ? 'payable' : 'unpayable'
}

/** Undefined if the simulation fails now: then the default limit applies. */
async function measureUnits(
  parts: SolanaParts,
  payout: Payout,
  keepRent: boolean,
): Promise<number | undefined> {
  const microLamportsPerUnit = parts.settings.priorityPrice.floor
  const priced = { units: PAYMENT_UNITS, microLamportsPerUnit, lifetime: NO_LIFETIME, keepRent }
  const raw = toBase64(await compilePayout(parts, payout, priced))
  const tried = await simulate(parts.client, { raw, replaceBlockhash: true })
  return tried.kind === 'ok' ? unitsWithMargin(tried.units) : undefined
}

/** Signs a refund after its deadline, which needs no attester. */
export async function signPublicRefund(
  parts: SolanaParts,
  feePayer: SolanaSigner,
  op: Payout['op'],
  { lifetime, microLamportsPerUnit }: Omit<Priced, 'units'>,
): Promise<Signed> {
  const instructions = await payoutInstructions(parts, { kind: 'refund', op }, { attested: false })
  const budget = budgetInstructions({ units: PAYMENT_UNITS, microLamportsPerUnit })
  const wire = compile({ feePayer: feePayer.address, lifetime, instructions: [...budget, ...instructions] })
  const message = splitWire(wire, { count: 1 })?.message
  if (!message) throw new Error('A public refund is signed by the fee payer alone')
  const signature = await signMessage(feePayer, message)
  return {
    raw: toBase64(joinWire([signature], message)),
    txHash: getBase58Decoder().decode(signature),
    lastValid: lifetime.lastValidBlockHeight,
  }
}

type Attested = { message: Uint8Array; signature: Uint8Array; lastValid: bigint }

/** Undefined if the text is not an attested transaction. */
export function readAttested(text: string): Attested | undefined {
  const [, height, base64] = /^(\d{1,19}):(.+)$/.exec(text) ?? []
  const wire = base64 === undefined ? undefined : fromBase64(base64)
  const split = wire && splitWire(wire, { count: SIGNERS })
  const signature = split?.signatures[1]
  return split && signature && { message: split.message, signature, lastValid: BigInt(height ?? 0) }
}

/** Whether the configured attester signed these bytes. */
export async function isAttested(
  { settings }: Pick<SolanaParts, 'settings'>,
  text: string,
): Promise<boolean> {
  const attested = readAttested(text)
  return attested !== undefined && isSignedBy(settings.attester, attested.signature, attested.message)
}

/** Whether these bytes are exactly this claim or refund, and the attester signed them. */
export async function isPayout(parts: SolanaParts, payout: Payout, { message, signature }: Attested) {
  const { attester, feePayers } = parts.settings
  const read = readMessage(message)
  const [limit, price, ...rest] = read?.instructions ?? []
  if (!read || !limit || !price) return false
  const isBySame = read.signers.length === SIGNERS && read.signers[0] === feePayers.input
  const budget = readBudget(limit, price)
  if (!isBySame || read.signers[1] !== attester || !budget) return false
  const isWith = async (keepRent: boolean) =>
    isSame(rest, await payoutInstructions(parts, payout, { keepRent }))
  const isExact = (await isWith(false)) || (payout.kind === 'claim' && (await isWith(true)))
  return isExact && isSignedBy(attester, signature, message)
}
