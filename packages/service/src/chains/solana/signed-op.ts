import type { Op, Swap } from '../../model/swap.ts'
import { toTokenAccountAddress } from './accounts.ts'
import { fromBase64 } from './bytes.ts'
import { INPUT_SIGNERS } from './input.ts'
import { readInputTerms } from './input-terms.ts'
import { inputRef } from './locks.ts'
import { toMarker } from './marker.ts'
import { splitWire } from './message.ts'
import { isNative } from './mint.ts'
import type { SolanaParts } from './parts.ts'
import { findLockTerms } from './recovery.ts'
import { isSignedBy } from './signed-input.ts'

/** Whether the wallet signed the transaction that takes the op's input, or the chain shows such a transaction. */
export async function isOpSigned(parts: SolanaParts, { op, signature }: Swap): Promise<boolean> {
  return signature === '' || op.isOrphan ? isInputTaken(parts, op) : isInputSigned(parts, op, signature)
}

async function isInputSigned(parts: SolanaParts, op: Op, signedTransaction: string): Promise<boolean> {
  const wire = fromBase64(signedTransaction)
  const split = wire && splitWire(wire, { count: INPUT_SIGNERS })
  const terms = split && readInputTerms(split.message)
  const [, signature] = split?.signatures ?? []
  if (!terms || !signature) return false
  const isOfOp =
    terms.opId === op.hash.slice(2) &&
    terms.feePayer === op.locker &&
    terms.wallet === op.wallet &&
    terms.token === op.inputToken &&
    terms.amount === op.inputAmount &&
    terms.destination === (await intakeAccountOf(parts, op)) &&
    terms.marker === (await inputMarkerOf(parts, op))
  return isOfOp && isSignedBy(op.wallet, signature, split.message)
}

async function intakeAccountOf({ settings, facts }: SolanaParts, { inputToken }: Op): Promise<string> {
  const { intake } = settings.vaults
  const token = await facts.tokenOf(inputToken)
  return isNative(token) ? intake : toTokenAccountAddress({ owner: intake, ...token })
}

async function inputMarkerOf({ settings }: SolanaParts, { hash, locker }: Op): Promise<string> {
  const marker = {
    key: settings.markerKey,
    opHash: hash,
    kind: 'input',
    generation: 0,
    base: locker,
  } as const
  return (await toMarker(marker)).address
}

async function isInputTaken(parts: SolanaParts, op: Op): Promise<boolean> {
  const ref = inputRef(parts, op)
  const taken = (await parts.markers.findCreations([ref], { commitment: 'confirmed' })).get(ref)
  const terms = taken && (await findLockTerms(parts, taken.txHash, op.hash))
  return (
    terms?.wallet === op.wallet && terms.inputToken === op.inputToken && terms.inputAmount === op.inputAmount
  )
}
