import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  createDefaultRpcTransport,
  createJsonRpcApi,
  createKeyPairSignerFromPrivateKeyBytes,
  createRpc,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  getSolanaErrorFromTransactionError,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  pipe,
  type Signature,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import { type Hex, hexToBytes } from 'viem'

const READ_MS = 100
// The limit of a node for one getSignatureStatuses.
const STATUSES_PER_REQUEST = 256
// A test may drop transactions before they reach a block: unseen ones are sent again each second.
const READS_PER_OFFER = 10
// Enough for a mint and three token accounts; the rest of a block's 48 million is for others.
const UNITS = 400_000
const LIMITS = 100_000

type DevApi = {
  dev_setAccount(address: Address, account: { lamports: string }): null
  dev_addProgram(address: Address, code: [text: string, encoding: 'base64'], authority: Address): null
  dev_advanceSlots(count: number): number
}
export type SolanaClient = ReturnType<typeof createSolanaClient>

export function createSolanaClient(rpcUrl: string) {
  const transport = createDefaultRpcTransport({ url: rpcUrl })
  const dev = createRpc({ api: createJsonRpcApi<DevApi>({ responseTransformer: resultOf }), transport })
  return { rpc: createSolanaRpc(rpcUrl), dev }
}

export function createSolanaSigner(key: { seed: Hex }): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(hexToBytes(key.seed))
}

type SolanaOutcome =
  | { kind: 'confirmed'; signature: Signature }
  /** The transaction ran, or was simulated, and failed. */
  | { kind: 'refused'; reason: string }
  | { kind: 'late'; signature: Signature }

export type SolanaSender = {
  signer: KeyPairSigner
  /** Pays for these instructions and waits until they are confirmed. Calls may overlap. */
  send(instructions: readonly Instruction[], timeoutMs: number): Promise<SolanaOutcome>
}

export function createSolanaSender(client: SolanaClient, signer: KeyPairSigner): SolanaSender {
  // Not from zero, so that a sender restarted within a slot does not repeat a transaction.
  let sent = Math.floor(Math.random() * LIMITS)
  const readStatus = createStatusReader(client)

  async function sign(instructions: readonly Instruction[]) {
    const { value: lifetime } = await client.rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    sent += 1
    // The limit differs each time: equal instructions within one slot would be the same transaction.
    const limit = getSetComputeUnitLimitInstruction({ units: UNITS + (sent % LIMITS) })
    return pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(signer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions([limit, ...instructions], message),
      (message) => signTransactionMessageWithSigners(message),
    )
  }

  return {
    signer,
    async send(instructions, timeoutMs) {
      const signed = await sign(instructions)
      const wire = getBase64EncodedWireTransaction(signed)
      const reason = await findRefusal(client, wire)
      if (reason) return { kind: 'refused', reason }
      const signature = getSignatureFromTransaction(signed)
      return waitUntilConfirmed(client, { signature, wire, timeoutMs, readStatus })
    },
  }
}

/** Sends the transaction. Returns a reason if the node refused it after the simulation. */
async function findRefusal(
  { rpc }: SolanaClient,
  wire: Base64EncodedWireTransaction,
): Promise<string | undefined> {
  try {
    await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' }).send()
    return undefined
  } catch (error) {
    if (!isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE))
      throw error
    return error.cause instanceof Error ? error.cause.message : error.message
  }
}

async function waitUntilConfirmed(
  { rpc }: SolanaClient,
  sent: {
    signature: Signature
    wire: Base64EncodedWireTransaction
    timeoutMs: number
    readStatus: ReadStatus
  },
): Promise<SolanaOutcome> {
  const { signature, wire } = sent
  const deadline = Date.now() + sent.timeoutMs
  for (let reads = 1; Date.now() < deadline; reads += 1) {
    const status = await sent.readStatus(signature)
    if (status?.err)
      return { kind: 'refused', reason: getSolanaErrorFromTransactionError(status.err).message }
    if (status && status.confirmationStatus !== 'processed') return { kind: 'confirmed', signature }
    if (!status && reads % READS_PER_OFFER === 0)
      await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
  }
  return { kind: 'late', signature }
}

type ReadStatus = ReturnType<typeof createStatusReader>

/** Reads the status of a transaction after a short delay, so that concurrent waits share one request. */
function createStatusReader({ rpc }: SolanaClient) {
  const read = async (signatures: Signature[]) => (await rpc.getSignatureStatuses(signatures).send()).value
  let batch: { signatures: Signature[]; statuses: ReturnType<typeof read> } | undefined

  function open() {
    const signatures: Signature[] = []
    const statuses = delay(READ_MS).then(() => {
      if (batch?.signatures === signatures) batch = undefined
      return read(signatures)
    })
    return { signatures, statuses }
  }

  return async (signature: Signature) => {
    if (!batch || batch.signatures.length === STATUSES_PER_REQUEST) batch = open()
    const { signatures, statuses } = batch
    const index = signatures.push(signature) - 1
    return (await statuses)[index]
  }
}

function resultOf<Result>(response: unknown): Result {
  const { result, error } = response as { result: Result; error?: unknown }
  if (error) throw new Error(JSON.stringify(error))
  return result
}
