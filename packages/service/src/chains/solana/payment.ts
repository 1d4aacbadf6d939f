import {
  type Address,
  createNoopSigner,
  getBase58Decoder,
  type Instruction,
  signBytes,
  type TransactionSigner,
} from '@solana/kit'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { toTokenAccountAddress } from './accounts.ts'
import { toBase64 } from './bytes.ts'
import { paymentUnits } from './fees.ts'
import type { Lifetime } from './heads.ts'
import { budgetInstructions, memoInstruction, transferInstruction } from './instructions.ts'
import { createMarkerInstruction, type Marker, type MarkerKind, toMarker } from './marker.ts'
import { compile, joinWire, splitWire } from './message.ts'
import { isNative, type Token } from './mint.ts'
import type { Rent } from './rent.ts'
import type { SignedTransaction } from './signed-input.ts'
import type { SolanaSigner } from './signer.ts'

/** The paying vault: `authority` owns its token accounts, and its own account holds the native coin. */
export type PayingVault = {
  feePayer: SolanaSigner
  authority: SolanaSigner
  markerKey: Uint8Array
  rent: Rent
}

export type Payment = {
  kind: 'deliver' | 'claim' | 'refund'
  opHash: string
  /** Incremented when a stranger funded the marker and every attempt with it has expired. */
  generation: number
  /** The wallet or vault that is paid, not its token account. */
  to: string
  token: Token
  amount: bigint
  /** Pays the rent of the recipient's token account if it is still missing when this lands. */
  createRecipientAccount?: boolean
  /** The compute limit from a simulation; by default a limit that suffices for every payment. */
  units?: number
  microLamportsPerUnit: bigint
  lifetime: Lifetime
}

type SignedPayment = SignedTransaction & { lastValidBlockHeight: bigint; marker: Marker }

/** Builds and signs a delivery, refund or claim, unpublished. Of one marker's payments at most one lands. */
export async function buildPayment(vault: PayingVault, payment: Payment): Promise<SignedPayment> {
  const { wire, marker } = await compilePayment(vault, payment)
  const message = splitWire(wire, { count: 2 })?.message
  if (!message) throw new Error('A payment is signed by the fee payer and the vault')
  const [first, second] = await Promise.all([
    signBytes(vault.feePayer.keyPair.privateKey, message),
    signBytes(vault.authority.keyPair.privateKey, message),
  ])
  return {
    raw: toBase64(joinWire([first, second], message)),
    txHash: getBase58Decoder().decode(first),
    lastValidBlockHeight: payment.lifetime.lastValidBlockHeight,
    marker,
  }
}

type Draft = { feePayer: string; authority: string; markerKey: Uint8Array; rent: Rent }

/** The same payment without signatures, for simulation: no signed bytes may leave before they are recorded. */
export async function draftPayment(vault: Draft, payment: Payment): Promise<string> {
  const { wire } = await compilePayment(
    {
      ...vault,
      feePayer: createNoopSigner(vault.feePayer as Address),
      authority: createNoopSigner(vault.authority as Address),
    },
    payment,
  )
  return toBase64(wire)
}

function markerKindOf(kind: Payment['kind']): MarkerKind {
  return kind === 'deliver' ? 'deliver' : 'exit'
}

type Payers = { feePayer: TransactionSigner; authority: TransactionSigner; markerKey: Uint8Array; rent: Rent }

async function compilePayment(
  vault: Payers,
  payment: Payment,
): Promise<{ wire: Uint8Array; marker: Marker }> {
  const { feePayer, authority, markerKey, rent } = vault
  const { kind, opHash, generation, to, token, amount, microLamportsPerUnit } = payment
  if (feePayer.address === authority.address || feePayer.address === to) {
    throw new Error('The fee payer takes no part in a swap')
  }
  const base = authority.address
  const marker = await toMarker({ key: markerKey, opHash, kind: markerKindOf(kind), generation, base })
  const createAccount = payment.createRecipientAccount === true && !isNative(token)
  const units = payment.units ?? paymentUnits({ createAccount })
  const wire = compile({
    feePayer: feePayer.address,
    lifetime: payment.lifetime,
    instructions: [
      ...budgetInstructions({ units, microLamportsPerUnit }),
      createMarkerInstruction({ marker, payer: feePayer, base: authority, lamports: rent.emptyLamports }),
      ...(createAccount ? [await createAccountInstruction(feePayer, { to, token })] : []),
      memoInstruction(opHash),
      await transferInstruction({ from: authority, to, token, amount }),
    ],
  })
  return { wire, marker }
}

export async function createAccountInstruction(
  payer: TransactionSigner,
  { to, token }: Pick<Payment, 'to' | 'token'>,
): Promise<Instruction> {
  const ata = await toTokenAccountAddress({ owner: to, mint: token.mint, program: token.program })
  return getCreateAssociatedTokenIdempotentInstruction({
    payer,
    ata: ata as Address,
    owner: to as Address,
    mint: token.mint as Address,
    tokenProgram: token.program as Address,
  })
}
