import type { Pool } from 'pg'
import { bookGas } from '../store/books.ts'
import type { Task } from './lane.ts'

type Options = {
  pool: Pool
  chainId: number
  /** Balances that only gas lowers, by address; undefined while they are not known. */
  read(): Promise<ReadonlyMap<string, bigint> | undefined>
  /** The value of an amount of gas coin in millionths of a USD; undefined without a price. */
  usdE6Of(amount: bigint): bigint | undefined
}

/** Books the gas that was spent, whenever balances changed. Without a price it is booked later. */
export function createGasBook({ pool, chainId, read, usdE6Of }: Options): Task {
  let booked = ''
  return {
    topics: [`head:${chainId}`],
    async step() {
      const balances = await read()
      if (!balances) return
      const text = [...balances].join()
      if (text === booked || usdE6Of(0n) === undefined) return
      await bookGas(pool, { chainId, balances, usdE6Of: (amount) => usdE6Of(amount) ?? 0n })
      booked = text
    },
  }
}
