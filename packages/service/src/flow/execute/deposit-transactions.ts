import type { Pool } from 'pg'
import type { Block, OriginWays } from '../../chains/chain.ts'
import { isolate } from '../../isolate.ts'
import type { Swap } from '../../model/swap.ts'
import { setDepositTx } from '../../store/deposits.ts'

/** An amount at the address of a swap. `since`: the block at which the address was last looked at, if known. */
export type Received = { swap: Swap; received: string; since: bigint | undefined; at: Block }

type Deps = { pool: Pool; ways: Pick<OriginWays, 'findDepositTx'> }

const MAX_WAITING = 1_000
const FOUND_AT_ONCE = 20
const MAX_TRIES = 3

/** Finds the transactions of deposits, for their statuses alone: no swap waits for them. */
export function createDepositTransactions({ pool, ways }: Deps) {
  const waiting = new Map<string, Received & { tries: number }>()

  function add(received: Received): void {
    waiting.delete(received.swap.id)
    waiting.set(received.swap.id, { ...received, tries: 0 })
    const [oldest] = waiting.keys()
    if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest)
  }

  async function find(faults: unknown[]): Promise<void> {
    for (const each of [...waiting.values()].slice(0, FOUND_AT_ONCE)) {
      const { swap, received, since, at } = each
      const isDone = await isolate(faults, { step: 'deposit transaction', id: swap.id }, async () => {
        const txHash = await ways.findDepositTx(swap.op, { since, at })
        if (txHash) await setDepositTx(pool, { id: swap.id, received, txHash })
        return true
      })
      each.tries += 1
      const isNewest = waiting.get(swap.id) === each
      if (isNewest && (isDone || each.tries >= MAX_TRIES)) waiting.delete(swap.id)
    }
  }

  return { add, find }
}
