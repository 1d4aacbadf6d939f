import { setTimeout as delay } from 'node:timers/promises'
import { testFeedAbi } from '@geoswap/protocol'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { createEvmClient, createEvmSender, type EvmClient } from './evm-sender.ts'
import { nextOrders } from './orders.ts'

export type KeeperOrders = { chainId: number; rpcUrl: string; privateKey: Hex; feeds: Address[] }

const EVERY_MS = 10_000
const RETRY_MS = 1_000
const TOUCH_GAS = 200_000n
// `touch` re-stamps whatever the answer is when it is included: it can never undo somebody's update.
const TOUCH = encodeFunctionData({ abi: testFeedAbi, functionName: 'touch' })

/** Keeps the feeds fresh for ever, as the operators of real ones do. */
async function keepFresh(orders: KeeperOrders): Promise<never> {
  const client = createEvmClient(orders.rpcUrl)
  const sender = createEvmSender(client, orders)

  async function touchAll(): Promise<number> {
    // On a halted chain the last round is still waiting: another one would only pile up behind it.
    if (await hasPending(client, sender.address)) return RETRY_MS
    for (const to of orders.feeds) await sender.send({ to, data: TOUCH, gas: TOUCH_GAS })
    return EVERY_MS
  }

  for (;;) {
    const waitMs = await touchAll().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      return RETRY_MS
    })
    await delay(waitMs)
  }
}

async function hasPending(client: EvmClient, address: Address): Promise<boolean> {
  const [included, sent] = await Promise.all([
    client.getTransactionCount({ address, blockTag: 'latest' }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return sent > included
}

await keepFresh(await nextOrders<KeeperOrders>())
