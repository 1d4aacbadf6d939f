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
import { getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import type { SolanaClients } from './client.ts'
import { readBlockHeight } from './heads.ts'
import { readPriorityPrice } from './priority.ts'
import { readSignatures } from './reads.ts'
import { broadcast } from './send.ts'
import type { SolanaSigner } from './signer.ts'

const POLL_MS = 400
// In millionths of a lamport per unit: at the cap a transaction of two instructions costs 0.00008 SOL more.
const PRIORITY_PRICE = { floor: 1_000n, cap: 200_000n }

/** The price at which the transactions of a command land. */
export async function priceInstruction(client: SolanaClients, payer: SolanaSigner): Promise<Instruction> {
  const price = await readPriorityPrice(client, { accounts: [payer.address], ...PRIORITY_PRICE })
  return getSetComputeUnitPriceInstruction({ microLamports: price })
}

/**
 * Sends instructions of a command until they are confirmed. Throws if they failed, or can no longer land. Signers other
 * than the payer are part of the instructions.
 */
export async function sendInstructions(
  client: SolanaClients,
  payer: SolanaSigner,
  instructions: readonly Instruction[],
): Promise<string> {
  const price = await priceInstruction(client, payer)
  const { value: lifetime } = await client.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions([price, ...instructions], message),
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
