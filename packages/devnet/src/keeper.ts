import { setTimeout as delay } from 'node:timers/promises'
import { testFeedAbi } from '@geoswap/protocol'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { receiveOptions } from './child-options.ts'
import { createEvmClient, createEvmSender, type EvmClient } from './evm-sender.ts'

type KeptChain = { chainId: number; rpcUrl: string; feeds: Address[]; everySeconds: number }
export type KeeperOptions = { privateKey: Hex; chains: KeptChain[] }

const CHECK_MS = 1_000
// Enough also for the L1 part on Arbitrum in a spike.
const TOUCH_GAS = 2_000_000n
// `touch` renews the timestamp of the current answer, so it can never undo an update.
const TOUCH = encodeFunctionData({ abi: testFeedAbi, functionName: 'touch' })

/** Keeps the feeds of a chain fresh, as the operators of real feeds do. */
async function keepFresh(chain: KeptChain, privateKey: Hex): Promise<never> {
  const client = createEvmClient(chain.rpcUrl)
  const sender = createEvmSender(client, { privateKey, chainId: chain.chainId })

  async function touchIfDue(): Promise<void> {
    const { timestamp } = await client.getBlock({ blockTag: 'latest' })
    // By the chain's own clock, which tests move: a feed is not stale for long after a jump.
    const age = Number(timestamp) - touchedAt
    if (age >= 0 && age < chain.everySeconds) return
    // On a halted chain the last round is still pending; more would only queue up behind it.
    if (await hasPending(client, sender.address)) return
    for (const to of chain.feeds) await sender.send({ to, data: TOUCH, gas: TOUCH_GAS })
    touchedAt = Number(timestamp)
  }

  let touchedAt = 0
  for (;;) {
    await touchIfDue().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    })
    await delay(CHECK_MS)
  }
}

async function hasPending(client: EvmClient, address: Address): Promise<boolean> {
  const [included, sent] = await Promise.all([
    client.getTransactionCount({ address, blockTag: 'latest' }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return sent > included
}

const { chains, privateKey } = await receiveOptions<KeeperOptions>()
await Promise.all(chains.map((chain) => keepFresh(chain, privateKey)))
