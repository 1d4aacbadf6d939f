import {
  type Address,
  getBase58Decoder,
  getPublicKeyFromAddress,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit'
import { createMemory } from '../../async/cache.ts'
import type { Op, Swap } from '../../swap/swap.ts'
import { fromBase64, sha256Hex, toBase64 } from './bytes.ts'
import { type Rent, tokenAccountRent } from './facts.ts'
import { feeLamports } from './fees.ts'
import { findInHistory } from './history.ts'
import {
  INPUT_SIGNERS,
  type InputTerms,
  isInputOf,
  isOfOp,
  readInputMessage,
  readInputWire,
} from './input.ts'
import { joinWire, SIGNATURE_BYTES, splitWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { type SolanaSigner, signMessage } from './settings.ts'

type Submitted = { messageHash: string; wallet: string; signedTransaction: string }

/** An accepted `signedTransaction` has zeros in our slot, whatever the caller put there. */
type SignedInput =
  | { kind: 'ok'; signedTransaction: string; terms: InputTerms }
  | { kind: 'mismatch' }
  | { kind: 'badSignature' }

/** Whether this is the built transaction, byte for byte, signed by the wallet. */
export async function checkSignedInput(
  { settings }: Pick<SolanaParts, 'settings'>,
  submitted: Submitted,
): Promise<SignedInput> {
  const wire = fromBase64(submitted.signedTransaction)
  const split = wire && splitWire(wire, { count: INPUT_SIGNERS })
  if (!split || (await sha256Hex(split.message)) !== submitted.messageHash) return { kind: 'mismatch' }
  // The hash proves that we built the message. Its bytes are decoded again before a key signs it.
  const terms = await readInputMessage(settings, split.message)
  if (terms?.wallet !== submitted.wallet) return { kind: 'mismatch' }
  const [, signature] = split.signatures
  if (!signature || !(await isSignedBy(submitted.wallet, signature, split.message))) {
    return { kind: 'badSignature' }
  }
  const signatures = [new Uint8Array(SIGNATURE_BYTES), signature]
  return { kind: 'ok', signedTransaction: toBase64(joinWire(signatures, split.message)), terms }
}

const remember = createMemory<Promise<boolean>>()

/** Verifies each signature once. */
export function isSignedBy(wallet: string, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  const key = [wallet, toBase64(signature), toBase64(message)].join(' ')
  return remember(key, () => verify(wallet, signature, message))
}

async function verify(wallet: string, signature: Uint8Array, message: Uint8Array): Promise<boolean> {
  try {
    const key = await getPublicKeyFromAddress(wallet as Address)
    return await verifySignature(key, signature as SignatureBytes, message)
  } catch {
    // Not a point on the curve: no key exists for this address.
    return false
  }
}

export type SignedTransaction = { raw: string; txHash: string }

type Cosign = {
  signedTransaction: string
  /** The most that fees and rent may cost together. */
  maxCostLamports: bigint
}

/** The fees that the transaction names, and the rent of the input's account. */
export const costOf = (
  { computeUnits, microLamportsPerUnit, tokenProgram }: InputTerms,
  rent: Rent,
): bigint =>
  feeLamports(computeUnits, microLamportsPerUnit) + tokenAccountRent(rent, { program: tokenProgram })

/** Adds the fee payer's signature, which is the transaction's id. Signs only inputs that it pays for. */
export async function cosignInput(
  { settings, facts }: Pick<SolanaParts, 'settings' | 'facts'>,
  feePayer: SolanaSigner,
  { signedTransaction, maxCostLamports }: Cosign,
): Promise<SignedTransaction> {
  const read = await readInputWire(settings, signedTransaction)
  const [, walletSignature] = read?.signatures ?? []
  if (!read || !walletSignature || read.terms.feePayer !== feePayer.address) {
    throw new TypeError('Not an input that this fee payer pays for')
  }
  if (costOf(read.terms, await facts.rent()) > maxCostLamports)
    throw new RangeError('The input costs more than its fee payer may spend')
  const signature = await signMessage(feePayer, read.message)
  return {
    raw: toBase64(joinWire([signature, walletSignature], read.message)),
    txHash: getBase58Decoder().decode(signature),
  }
}

/** Whether the wallet signed the transaction that takes the op's input, or the chain shows such a transaction. */
export async function isOpSigned(parts: SolanaParts, { op, signature }: Swap): Promise<boolean> {
  return signature === '' || op.isOrphan ? isInputTaken(parts, op) : isInputSigned(parts, op, signature)
}

async function isInputSigned({ settings }: SolanaParts, op: Op, signedTransaction: string): Promise<boolean> {
  const read = await readInputWire(settings, signedTransaction)
  const [, signature] = read?.signatures ?? []
  if (!read || !signature || !isOfOp(op, read.terms)) return false
  return isSignedBy(op.wallet, signature, read.message)
}

async function isInputTaken(parts: SolanaParts, op: Op): Promise<boolean> {
  const { client, settings, addresses } = parts
  const address = await addresses.inputOf(op)
  const query = { step: 'input', address, commitment: 'confirmed', program: settings.program } as const
  const isIt = async (transaction: Parameters<typeof isInputOf>[2]) =>
    (await isInputOf(parts, op, transaction)) || undefined
  return (await findInHistory(client.agreed, query, isIt)) ?? false
}
