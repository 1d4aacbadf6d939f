import type { Bench } from './network.ts'
import type { RpcLog, SeenBlock, Sent } from './rpc-proxy.ts'
import type { TimedSwap } from './traders.ts'

/** The stages of a swap in milliseconds, with the waits for blocks separated. */
export type Journey = {
  /** From submit's answer to the node's answer to the lock. */
  toLock: number
  /** From submit's answer to the lock's arrival at the node. */
  beforeLock: number
  lockInBlock: number
  /** From the block of the lock to the delivery's arrival at the node. */
  beforeDelivery: number
  deliveryInBlock: number
  /** From the block of the delivery to the answer of the held read. */
  beforeAnswer: number
  total: number
  /** The total without the two waits for a block. */
  added: number
}

/** Combines the records of callers, proxy and chains. Swaps with replaced transactions are left out. */
export async function journeysOf(bench: Bench, timed: readonly TimedSwap[], log: RpcLog): Promise<Journey[]> {
  const sent = new Map(log.sent.toReversed().map((transaction) => [transaction.txHash, transaction]))
  const seen = new Map(log.blocks.map((block) => [`${block.chain} ${block.number}`, block]))
  const blocks = await blocksOf(bench, [...sent.values()])
  const blockOf = ({ chain, txHash }: Sent) => seen.get(`${chain} ${blocks.get(txHash)}`)
  return timed.flatMap((swap) => {
    const lock = sent.get(swap.status.originTxHash ?? '')
    const delivery = sent.get(swap.status.deliveryTxHash ?? '')
    const lockBlock = lock && blockOf(lock)
    const deliveryBlock = delivery && blockOf(delivery)
    if (!lock || !delivery || !lockBlock || !deliveryBlock) return []
    return [toJourney(swap, { lock, delivery, lockBlock, deliveryBlock })]
  })
}

type Parts = { lock: Sent; delivery: Sent; lockBlock: SeenBlock; deliveryBlock: SeenBlock }

function toJourney({ submittedAt, settledAt }: TimedSwap, parts: Parts): Journey {
  const { lock, delivery, lockBlock, deliveryBlock } = parts
  const total = settledAt - submittedAt
  const lockInBlock = lockBlock.at - lock.arrivedAt
  const deliveryInBlock = deliveryBlock.at - delivery.arrivedAt
  return {
    toLock: lock.answeredAt - submittedAt,
    beforeLock: lock.arrivedAt - submittedAt,
    lockInBlock,
    beforeDelivery: delivery.arrivedAt - lockBlock.at,
    deliveryInBlock,
    beforeAnswer: settledAt - deliveryBlock.at,
    total,
    added: total - lockInBlock - deliveryInBlock,
  }
}

/** The number of the block that includes each transaction. */
async function blocksOf({ world }: Bench, sent: readonly Sent[]): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const chain of world.chains) {
    const hashes = new Set(sent.filter((one) => one.chain === chain.name).map((one) => one.txHash))
    for (const hash of hashes) {
      const receipt = await chain.client
        .getTransactionReceipt({ hash: hash as `0x${string}` })
        .catch(() => undefined)
      if (receipt) found.set(hash, Number(receipt.blockNumber))
    }
  }
  return found
}
