import type { Pool } from 'pg'
import type { Chain, Heads } from '../chains/chain.ts'
import { mapOwn } from '../isolate.ts'
import { type FloatLimits, nextTopUp } from '../model/gas-float.ts'
import { bookTopUp, findAwaitingTopUp, sumTopUpsOfDay } from '../store/gas-topups.ts'
import type { Lease } from '../store/lanes.ts'
import type { Sender } from './sender.ts'

type TopUpDeps = {
  pool: Pool
  chain: Pick<Chain, 'chainId' | 'readCoins' | 'readLegCosts' | 'planTransfer'>
  /** The address that represents the chain's native coin. */
  nativeToken: string
  limits: FloatLimits
  /** The sender of the gas float. */
  sender: Sender
  /** All keys that pay for transactions on this chain. */
  keys: readonly string[]
  /** The key's balance in the chain's view; undefined before the first reading. */
  balanceOf(key: string): bigint | undefined
}

// Locks cost more than transfers, and the price may double while a top-up waits.
const MARGIN = 4n

/**
 * Tops up one low key, unless a top-up of it is under way. The next follows once this one is mined: only then is the
 * balance of the float known again.
 */
export async function topUpLowest(deps: TopUpDeps, lease: Lease, heads: Heads): Promise<void> {
  const { pool, chain, limits, sender } = deps
  const { chainId } = chain
  const block = heads.head.number
  if (sender.room() <= 0) return
  const isEnough = (key: string) => (deps.balanceOf(key) ?? 0n) >= limits.low
  if (deps.keys.every(isEnough)) return
  const awaiting = await findAwaitingTopUp(pool, { chainId, block })
  const keys = await mapOwn(
    deps.keys.filter((address) => !awaiting.has(address)),
    async (address) => ({ address, balance: await chain.readCoins(address, heads.head) }),
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
    role: 'topup',
    request,
    swapIds: [],
    record: (db, { attemptId }) =>
      bookTopUp(db, { attemptId, chainId, block, address, amount }, limits.maxPerDay),
  })
}
