import type { Pool, PoolClient } from 'pg'
import type { Heads } from '../chains/chain.ts'
import { bookPayouts, readPaid } from '../store/claim-books.ts'
import { largest, smallest } from '../swap/amount.ts'
import { isPaid } from '../swap/lifecycle.ts'
import type { Swap } from '../swap/swap.ts'
import type { ViewOfChain } from './views.ts'

type Holding = { token: string; amount: bigint }

export type PayoutCaps = ReturnType<typeof createPayoutCaps>

type Deps = {
  pool: Pool
  chainId: number
  view: Pick<ViewOfChain, 'part'>
  /** The cap of a token by the configuration. */
  configured(token: string): bigint | undefined
}

/** Hourly caps that the service keeps for a vault. */
export function createPayoutCaps({ pool, chainId, view, configured }: Deps) {
  /** Without a configured cap, half of the inventory at the beginning of the hour. */
  const capOf = (token: string, held: bigint, paid: bigint): bigint => configured(token) ?? (held + paid) / 2n
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
