import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { type FloatLimits, nextTopUp } from '../model/gas-float.ts'
import { bookTopUp, findAwaitingTopUp, sumTopUpsOfDay } from '../store/gas-topups.ts'
import type { Lease } from '../store/lanes.ts'
import type { Sender } from './sender.ts'

export type TopUpDeps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readCoins' | 'readLegCosts' | 'planTransfer'>
  /** The address that stands for the chain's own coin. */
  nativeToken: string
  limits: FloatLimits
  /** Of the float. */
  sender: Sender
  /** Every key that pays for transactions here. */
  keys: readonly string[]
  /** As the view of the chain has it; undefined before it was read. */
  balanceOf(key: string): bigint | undefined
}

// Locks cost more than transfers; the price may double while one waits.
const MARGIN = 4n

/**
 * Tops up one key that is low, unless one is on its way to it. The next is looked at when this one is in a block: the
 * float's own balance is then known again.
 */
export async function topUpLowest(deps: TopUpDeps, lease: Lease, heads: Heads): Promise<void> {
  const { pool, chain, limits, sender } = deps
  const { chainId } = chain
  const block = heads.head.number
  if (sender.room() <= 0) return
  const isEnough = (key: string) => (deps.balanceOf(key) ?? 0n) >= limits.low
  if (deps.keys.every(isEnough)) return
  const awaiting = await findAwaitingTopUp(pool, { chainId, block })
  const keys = await Promise.all(
    deps.keys
      .filter((address) => !awaiting.has(address))
      .map(async (address) => ({ address, balance: await chain.readCoins(address, heads.head) })),
  )
  if (keys.every(({ balance }) => balance >= limits.low)) return
  const [balance, costs, spentToday] = await Promise.all([
    chain.readCoins(sender.address, heads.head),
    chain.readLegCosts(heads),
    sumTopUpsOfDay(pool, chainId),
  ])
  const topUp = nextTopUp(keys, { limits, balance, spentToday, costOfOne: MARGIN * costs.lock })
  if (!topUp) return
  const { address, amount } = topUp
  const request = await chain.planTransfer({
    from: sender.address,
    to: address,
    token: deps.nativeToken,
    amount,
  })
  await sender.send(lease, heads, {
    ...{ role: 'topup', request, swapIds: [] },
    record: (db, { attemptId }) =>
      bookTopUp(db, { attemptId, chainId, block, address, amount }, limits.maxPerDay),
  })
}
