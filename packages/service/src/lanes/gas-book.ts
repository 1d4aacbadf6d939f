import type { Pool } from 'pg'
import { bookGas } from '../store/books.ts'
import type { Task } from './lane.ts'
import type { ViewOfChain } from './views.ts'

type Options = {
  pool: Pool
  chainId: number
  view: Pick<ViewOfChain, 'part'>
  /** Keys that spend gas coin and nothing else. */
  keys: readonly string[]
  /** The value of an amount of gas coin in millionths of a USD; undefined without a price. */
  usdE6Of(amount: bigint): bigint | undefined
}

/** Books the gas that keys spent, whenever their balances changed. Without a price it is booked later. */
export function createGasBook({ pool, chainId, view, keys, usdE6Of }: Options): Task {
  let booked = ''
  return {
    topics: [`head:${chainId}`],
    async step() {
      const known = view.part('state')?.value.balances
      if (!known) return
      const balances = new Map(
        keys.flatMap((key) => {
          const balance = known[key]
          return balance === undefined ? [] : [[key, balance] as const]
        }),
      )
      const text = [...balances].join()
      if (text === booked || usdE6Of(0n) === undefined) return
      await bookGas(pool, { chainId, balances, usdE6Of: (amount) => usdE6Of(amount) ?? 0n })
      booked = text
    },
  }
}
