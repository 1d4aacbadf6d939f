import { getBase58Decoder } from '@solana/kit'
import { largest } from '../../swap/amount.ts'
import type { Sent, Signed, TxOutcomes } from '../chain.ts'
import { majorityOf } from '../nodes/agree.ts'
import { readAttested, signPublicRefund } from './attested.ts'
import { toBase64 } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import { mostOf } from './facts.ts'
import { feeLamports, PAYMENT_UNITS, unitsWithMargin } from './fees.ts'
import type { SolanaBlock } from './heads.ts'
import { readBudget } from './input.ts'
import { joinWire, readMessage } from './message.ts'
import { joinPayment } from './paid-input.ts'
import type { SolanaParts } from './parts.ts'
import {
  type AttestedRequest,
  compileDelivery,
  type PaymentRequest,
  type PublicRefundRequest,
  type SolanaRequest,
  signPayment,
} from './plans.ts'
import { readSignatures } from './reads.ts'
import { type SolanaSigner, signMessage } from './settings.ts'
import { cosignInput } from './signed-input.ts'
import { signSweep } from './sweep.ts'
import { signTransfer, type TransferTerms } from './transfer.ts'

/** The part of a remote signer's paths for keys of this family. */
export const SIGNER_API = 'solana'

/** As text, stored with the signed transaction. */
export type Terms = { blockhash: string; lastValid: string; microLamportsPerUnit: string }

export async function readTerms({ blockhashes, facts }: SolanaParts): Promise<Terms> {
  const [lifetime, price] = await Promise.all([blockhashes.recent(), facts.priorityPrice()])
  return {
    blockhash: lifetime.blockhash,
    lastValid: String(lifetime.lastValidBlockHeight),
    microLamportsPerUnit: String(price),
  }
}

export async function sign(parts: SolanaParts, request: SolanaRequest, terms: Terms): Promise<Signed> {
  const { feePayers } = parts.settings
  switch (request.kind) {
    case 'transfer':
      return signTransfer(parts, getSigner(parts, request.from), request, toPriced(terms))
    case 'deliver':
      return signDelivery(parts, request, terms)
    case 'sweep':
      return signSweep(parts, getSigner(parts, feePayers.delivery), request, toPriced(terms))
    case 'publicRefund':
      return signPublicRefund(parts, getSigner(parts, feePayers.input), toOp(request), toPriced(terms))
    case 'input':
    case 'paidInput': {
      const { signedTransaction, maxCostLamports } = request
      const input = { signedTransaction, maxCostLamports: BigInt(maxCostLamports) }
      const feePayer = getSigner(parts, feePayers.input)
      const signed = await cosignInput(parts, feePayer, input)
      const lastValid = BigInt(request.lastValid)
      if (request.kind === 'input') return { ...signed, lastValid }
      return { ...(await joinPayment(parts, feePayer, signed, toPriced(terms))), lastValid }
    }
    default:
      return cosignPayout(parts, getSigner(parts, feePayers.input), request)
  }
}

const toOp = ({ inputAmount, ...op }: PublicRefundRequest) => ({ ...op, inputAmount: BigInt(inputAmount) })

function toPriced({ blockhash, lastValid, microLamportsPerUnit }: Terms): TransferTerms {
  const lifetime = { blockhash, lastValidBlockHeight: BigInt(lastValid) }
  return { lifetime, microLamportsPerUnit: BigInt(microLamportsPerUnit) }
}

async function signDelivery(parts: SolanaParts, request: PaymentRequest, terms: Terms): Promise<Signed> {
  const { feePayers, vault } = parts.settings
  const wire = await compileDelivery(parts, request, toPriced(terms))
  const signed = await signPayment(wire, [getSigner(parts, feePayers.delivery), getSigner(parts, vault)])
  return { ...signed, lastValid: BigInt(terms.lastValid) }
}

function getSigner({ signers }: SolanaParts, address: string): SolanaSigner {
  const signer = signers.find((candidate) => candidate.address === address)
  if (!signer) throw new Error(`No key for ${address}`)
  return signer
}

/**
 * A transaction is final once it is finalized, or once the finalized height is past its last valid one and no node
 * knows it. Heights were read before signatures, so a transaction that landed in time is known by now.
 */
export async function readOutcomes<T extends Sent>(
  { client }: SolanaParts,
  sent: readonly T[],
  hard: SolanaBlock,
): Promise<TxOutcomes<T>> {
  const expired = await findExpired(client, sent, hard)
  const statuses = await readSignatures(
    client.agreed,
    sent.map(({ txHash }) => txHash),
  )
  const isFinal = (each: T) => {
    const status = statuses.get(each.txHash)
    // Statuses are read after the heads: a transaction finalized since then counts at the next heads.
    const isLanded = status?.commitment === 'finalized' && status.slot <= hard.number
    return status ? isLanded : expired.has(each)
  }
  return {
    nextNonce: 0,
    final: sent.filter(isFinal),
    consumed: [],
    unmined: sent.filter((each) => !statuses.has(each.txHash) && !expired.has(each)),
  }
}

async function findExpired<T extends Sent>(
  client: SolanaParts['client'],
  sent: readonly T[],
  hard: SolanaBlock,
): Promise<Set<T>> {
  const late = sent.filter(({ lastValid }) => hard.height > (lastValid ?? 0n))
  if (late.length === 0) return new Set()
  const newest = largest(...late.map(({ lastValid = 0n }) => lastValid))
  // With several nodes, a majority has to be past the last of these heights.
  return new Set((await isExpiredByMajority(client, newest)) ? late : [])
}

/** Whether most nodes have finalized a block past this height: nothing valid up to it can still land. */
export async function isExpiredByMajority({ nodes }: SolanaClient, height: bigint): Promise<boolean> {
  const answers = await Promise.allSettled(
    nodes.map((rpc) => rpc.getEpochInfo({ commitment: 'finalized' }).send()),
  )
  const heads = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const needed = majorityOf(nodes.length)
  if (heads.length < needed) throw new Error(`${heads.length} of ${needed} nodes answered`)
  return heads.filter(({ blockHeight }) => blockHeight > height).length >= needed
}

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
  const signature = await signMessage(feePayer, attested.message)
  return {
    raw: toBase64(joinWire([signature, attested.signature], attested.message)),
    txHash: getBase58Decoder().decode(signature),
    lastValid: attested.lastValid,
  }
}
