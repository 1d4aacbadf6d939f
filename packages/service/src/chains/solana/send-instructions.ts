import { setTimeout as delay } from 'node:timers/promises'
import {
  appendTransactionMessageInstructions,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import type { SolanaClients } from './client.ts'
import { readBlockHeight } from './heads.ts'
import { readSignatures } from './reads.ts'
import { broadcast } from './send.ts'
import type { SolanaSigner } from './signer.ts'

const POLL_MS = 400

/**
 * Sends instructions of a command until they are confirmed. Throws if they failed, or can no longer land. Signers other
 * than the payer are part of the instructions.
 */
export async function sendInstructions(
  client: SolanaClients,
  payer: SolanaSigner,
  instructions: readonly Instruction[],
): Promise<string> {
  const { value: lifetime } = await client.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  )
  const [raw, txHash] = [getBase64EncodedWireTransaction(signed), getSignatureFromTransaction(signed)]
  for (;;) {
    await broadcast(client, raw)
    await delay(POLL_MS)
    const status = (await readSignatures(client, [txHash])).get(txHash)
    if (status?.failed) throw new Error(`Transaction ${txHash} failed`)
    if (status && status.commitment !== 'processed') return txHash
    if (!status && (await readBlockHeight(client)) > lifetime.lastValidBlockHeight)
      throw new Error(`Transaction ${txHash} did not land in time. Run the command again.`)
  }
}
