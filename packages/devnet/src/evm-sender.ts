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

// Far above the local base fee of at most 0.1 gwei, so that no transaction waits for a cheaper block.
const MAX_FEE_WEI = 3_000_000_000n
const PRIORITY_FEE_WEI = 1_000_000n
const RECEIPT_POLL_MS = 100

export type EvmCall = { to: Address; data?: Hex; value?: bigint; gas: bigint }
export type EvmClient = ReturnType<typeof createEvmClient>

export function createEvmClient(rpcUrl: string) {
  // Many waiting for receipts at once ask in one request.
  const transport = http(rpcUrl, { batch: { wait: 5 }, retryCount: 2 })
  return createTestClient({ mode: 'hardhat', transport, cacheTime: 0 }).extend(publicActions)
}

export type EvmSender = {
  address: Address
  /** Broadcasts and returns the hash. Calls may overlap: each gets the next nonce in turn. */
  send(call: EvmCall): Promise<Hex>
}

export function createEvmSender(client: EvmClient, from: { privateKey: Hex; chainId: number }): EvmSender {
  const account = privateKeyToAccount(from.privateKey)
  const fees = { maxFeePerGas: MAX_FEE_WEI, maxPriorityFeePerGas: PRIORITY_FEE_WEI }
  let last: Promise<unknown> = Promise.resolve()

  // The nonce is the chain's own count every time: it stays right when a test reverts to a snapshot.
  async function sendNow(call: EvmCall): Promise<Hex> {
    const nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' })
    const { chainId } = from
    const serializedTransaction = await account.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      ...fees,
      ...call,
    })
    return client.sendRawTransaction({ serializedTransaction })
  }

  return {
    address: account.address,
    send(call) {
      const sent = last.then(() => sendNow(call))
      last = sent.catch(() => {})
      return sent
    },
  }
}

/** The receipt as soon as there is one; undefined when the transaction is not included in time. */
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
