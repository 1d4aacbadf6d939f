import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  createTestClient,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

// Far above the base fee of any local chain, so that no transaction waits for a cheaper block.
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000n }
const RECEIPT_POLL_MS = 100

export type EvmCall = { to: Address; data?: Hex; value?: bigint; gas: bigint }
export type EvmClient = ReturnType<typeof createEvmClient>

export function createEvmClient(rpcUrl: string) {
  // Batches the requests of concurrent waits for receipts.
  const transport = http(rpcUrl, { batch: true, retryCount: 2 })
  return createTestClient({ mode: 'hardhat', transport, cacheTime: 0 }).extend(publicActions)
}

export type EvmSender = {
  address: Address
  /** Broadcasts and returns the hash. Calls may overlap: each gets the next nonce. */
  send(call: EvmCall): Promise<Hex>
}

export function createEvmSender(client: EvmClient, from: { privateKey: Hex; chainId: number }): EvmSender {
  const account = privateKeyToAccount(from.privateKey)
  const base = { type: 'eip1559', chainId: from.chainId, ...FEES } as const
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let nextNonce: number | undefined

  // Strictly sequential: a chain that mines each transaction at once refuses a nonce gap.
  async function sendNow(call: EvmCall): Promise<Hex> {
    nextNonce ??= await client.getTransactionCount({ address: account.address, blockTag: 'pending' })
    const serializedTransaction = await account.signTransaction({ ...base, ...call, nonce: nextNonce })
    const hash = await client.sendRawTransaction({ serializedTransaction })
    nextNonce += 1
    return hash
  }

  // Counts nonces locally within a burst and asks the chain before each burst. The count is then right again
  // after a refused transaction, and after a test reverts to a snapshot.
  function finish(isSent: boolean): void {
    waiting -= 1
    if (waiting === 0 || !isSent) nextNonce = undefined
  }

  return {
    address: account.address,
    send(call) {
      waiting += 1
      const sent = last.then(() => sendNow(call))
      last = sent.then(
        () => finish(true),
        () => finish(false),
      )
      return sent
    },
  }
}

/** The receipt as soon as it exists; undefined if the transaction is not included in time. */
export async function waitForReceipt(
  client: EvmClient,
  wait: { hash: Hex; timeoutMs: number },
): Promise<TransactionReceipt | undefined> {
  const deadline = Date.now() + wait.timeoutMs
  for (;;) {
    const receipt = await client.getTransactionReceipt({ hash: wait.hash }).catch(absentAsUndefined)
    if (receipt) return receipt
    if (Date.now() >= deadline) return undefined
    await delay(RECEIPT_POLL_MS)
  }
}

function absentAsUndefined(error: unknown): undefined {
  if (error instanceof TransactionReceiptNotFoundError) return undefined
  throw error
}
