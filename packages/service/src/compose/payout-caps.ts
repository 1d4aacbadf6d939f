import type { Pool, PoolClient } from 'pg'
import { parseUnits } from 'viem'
import type { Heads } from '../chains/chain.ts'
import type { ViewOfChain } from '../lanes/views.ts'
import { largest, smallest } from '../model/amount.ts'
import { type Catalog, findToken } from '../model/catalog.ts'
import { isPaid } from '../model/lifecycle.ts'
import type { Swap } from '../model/swap.ts'
import { bookPayouts, readPaid } from '../store/payout-books.ts'
import type { ConnectedChain } from './connected-chain.ts'

type Holding = { token: string; amount: bigint }
type Parts = { pool: Pool; catalog: Catalog }

/**
 * The hourly caps of a vault that has none on its chain: on Solana it is a key. Undefined where a contract keeps them.
 */
export function createPayoutCaps(
  { pool, catalog }: Parts,
  { config, nativeToken }: Pick<ConnectedChain, 'config' | 'nativeToken'>,
  view: Pick<ViewOfChain, 'part'>,
) {
  if (config.family === 'evm') return undefined
  const { chainId } = config
  const texts = new Map(config.tokens.map(({ address, capPerHour }) => [address, capPerHour]))
  texts.set(nativeToken.address, config.native.capPerHour)

  /** Without a configured cap, half of the inventory at the beginning of the hour. */
  function capOf(address: string, held: bigint, paid: bigint): bigint {
    const text = texts.get(address)
    const chain = catalog.chains.get(chainId)
    const token = chain && findToken(chain, address)
    return text !== undefined && token ? parseUnits(text, token.decimals) : (held + paid) / 2n
  }
  const heldOf = (token: string) =>
    view.part('state')?.value.holdings.find((holding) => holding.token === token)?.amount ?? 0n

  return {
    /** The part of each holding that may be paid out in this hour. */
    async limit(holdings: readonly Holding[], { head }: Heads): Promise<Holding[]> {
      const paidOf = await readPaid(pool, chainId, head.seconds)
      return holdings.map(({ token, amount }) => {
        const paid = paidOf.get(token) ?? 0n
        return { token, amount: smallest(amount, largest(capOf(token, amount, paid) - paid, 0n)) }
      })
    },
    /** Books payouts with the record of their delivery. A delivery that was reported is sent again at any cost. */
    book: (db: PoolClient, swaps: readonly Swap[], { head: { seconds } }: Heads): Promise<boolean> =>
      bookPayouts(db, {
        chainId,
        seconds,
        swaps: swaps.filter(({ state }) => !isPaid(state)),
        capOf: (token, paid) => capOf(token, heldOf(token), paid),
      }),
  }
}
