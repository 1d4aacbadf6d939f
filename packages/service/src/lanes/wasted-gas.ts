import type { Pool } from 'pg'
import type { Chain } from '../chains/chain.ts'
import { mapIsolated } from '../isolate.ts'
import { groupBy } from '../model/group.ts'
import type { Attempt } from '../store/attempts.ts'
import { findUnseen, type WastedGas } from '../store/wasted-gas.ts'

type Deps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readCost'>
  /** The value of an amount of gas coin in millionths of a USD; undefined without a price. */
  usdE6Of(amount: bigint): bigint | undefined
}

/**
 * The gas that attempts wasted, in equal parts of the swaps that each was for. Reads the receipts of those without an
 * event. Money does not wait for it: what cannot be read or priced when the nonce is consumed is read again when that
 * is final.
 */
export function createWasteReader({ pool, chain, usdE6Of }: Deps) {
  const { chainId } = chain
  return async (over: readonly Attempt[]): Promise<WastedGas[]> => {
    if (!chain.readCost || over.length === 0) return []
    const sent = new Map(over.map(({ id, txHash }) => [id, txHash]))
    const unseen = await findUnseen(pool, [...sent.keys()])
    const byAttempt = [...groupBy(unseen, ({ attemptId }) => attemptId)]
    const toSubject = ([id]: (typeof byAttempt)[number]) => ({ step: 'read cost', id })
    const costs = await mapIsolated([], byAttempt, toSubject, async ([attemptId]) =>
      chain.readCost?.(sent.get(attemptId) ?? ''),
    )
    return costs.flatMap(({ item: [attemptId, swaps], result: cost }) => {
      if (!cost) return []
      return swaps.flatMap(({ swapId, eventId, swaps: count }) => {
        const fee = cost.fee / BigInt(count)
        const usdE6 = usdE6Of(fee)
        const hadEffect = cost.eventIds.includes(eventId)
        return hadEffect || usdE6 === undefined ? [] : [{ attemptId, swapId, chainId, fee, usdE6 }]
      })
    })
  }
}
