import {
  type Address,
  airdropFactory,
  appendTransactionMessageInstructions,
  assertIsTransactionWithBlockhashLifetime,
  type Commitment,
  createDefaultRpcTransport,
  createJsonRpcApi,
  createRpc,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { type SolanaChainOptions, startSolanaChain } from '../src/start-solana-chain.ts'

type DevApi = {
  dev_pauseSlots(): number
  dev_resumeSlots(): number
  dev_advanceSlots(count: number): number
  dev_dropTransactions(amount: number | { count: number } | { probability: number; seed?: number }): null
  dev_delayTransactions(options: { count: number; slots: number }): null
  dev_setAccount(address: Address, account: object): null
}
export type World = Awaited<ReturnType<typeof startWorld>>

export const SOL = 1_000_000_000n

/** A new chain with plain kit clients. */
export async function startWorld(options: Partial<SolanaChainOptions> = {}) {
  const chain = await startSolanaChain({ port: 0, slotMs: 20, ...options })
  const rpc = createSolanaRpc(chain.rpcUrl)
  const rpcSubscriptions = createSolanaRpcSubscriptions(chain.wsUrl)
  const transport = createDefaultRpcTransport({ url: chain.rpcUrl })
  const dev = createRpc({ api: createJsonRpcApi<DevApi>({ responseTransformer: resultOf }), transport })
  const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })
  const airdrop = airdropFactory({ rpc, rpcSubscriptions })

  return {
    ...{ chain, rpc, rpcSubscriptions, dev, sendAndConfirm, airdrop },

    /** Its balance is confirmed when this returns. */
    async fundedSigner(amount = 10n * SOL): Promise<KeyPairSigner> {
      const signer = await generateKeyPairSigner()
      await rpc.requestAirdrop(signer.address, lamports(amount)).send()
      await dev.dev_advanceSlots(1).send()
      return signer
    },

    async sign(payer: KeyPairSigner, instructions: Instruction[], commitment: Commitment = 'confirmed') {
      const { value: lifetime } = await rpc.getLatestBlockhash({ commitment }).send()
      const signed = await pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
        (message) => signTransactionMessageWithSigners(message),
      )
      assertIsTransactionWithBlockhashLifetime(signed)
      return signed
    },

    /** Sends without waiting; the transaction is in the processed block on return. */
    async send(payer: KeyPairSigner, instructions: Instruction[], options: { skipPreflight?: boolean } = {}) {
      const signed = await this.sign(payer, instructions)
      await rpc
        .sendTransaction(getBase64EncodedWireTransaction(signed), {
          encoding: 'base64',
          preflightCommitment: 'processed',
          ...options,
        })
        .send()
      return getSignatureFromTransaction(signed)
    },

    /** A raw JSON-RPC call. */
    async post(body: string): Promise<{ status: number; text: string }> {
      const response = await fetch(chain.rpcUrl, { method: 'POST', body })
      return { status: response.status, text: await response.text() }
    },
  }
}

/** Returns the error of a promise; throws if the promise succeeds. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (!settled) throw new Error('Expected a failure')
  return settled.error
}

function resultOf<Result>(response: unknown): Result {
  const { result, error } = response as { result: Result; error?: unknown }
  if (error) throw new Error(JSON.stringify(error))
  return result
}
