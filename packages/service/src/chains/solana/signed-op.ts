import type { Op, Swap } from '../../model/swap.ts'
import { fromBase64 } from './bytes.ts'
import { findInHistory } from './history.ts'
import { INPUT_SIGNERS } from './input.ts'
import { isInputOf, isOfOp, readInputMessage } from './input-terms.ts'
import { splitWire } from './message.ts'
import type { SolanaParts } from './parts.ts'
import { isSignedBy } from './signed-input.ts'

/** Whether the wallet signed the transaction that takes the op's input, or the chain shows such a transaction. */
export async function isOpSigned(parts: SolanaParts, { op, signature }: Swap): Promise<boolean> {
  return signature === '' || op.isOrphan ? isInputTaken(parts, op) : isInputSigned(parts, op, signature)
}

async function isInputSigned({ settings }: SolanaParts, op: Op, signedTransaction: string): Promise<boolean> {
  const wire = fromBase64(signedTransaction)
  const split = wire && splitWire(wire, { count: INPUT_SIGNERS })
  const terms = split && (await readInputMessage(settings, split.message))
  const [, signature] = split?.signatures ?? []
  if (!terms || !signature || !isOfOp(op, terms)) return false
  return isSignedBy(op.wallet, signature, split.message)
}

async function isInputTaken(parts: SolanaParts, op: Op): Promise<boolean> {
  const { client, settings, addresses } = parts
  const address = await addresses.inputOf(op)
  const query = { step: 'input', address, commitment: 'confirmed', program: settings.program } as const
  const isIt = async (transaction: Parameters<typeof isInputOf>[2]) =>
    (await isInputOf(parts, op, transaction)) || undefined
  return (await findInHistory(client.agreed, query, isIt)) ?? false
}
