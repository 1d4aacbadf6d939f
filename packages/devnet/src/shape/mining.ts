import { type Ask, toHex } from './call.ts'
import type { ChainTime } from './control-methods.ts'
import type { EvmShape } from './evm-shape.ts'
import type { Fees } from './fee-system.ts'
import type { Head, Heads } from './heads.ts'
import { createPoolView } from './pool-view.ts'

const MOST_BLOCKS = 2_000
const ELASTICITY = 2n
const BASE_FEE_CHANGE = 8n

type Given = { ask: Ask; shape: EvmShape; heads: Heads; fees: Fees }

/** Makes blocks, and adds what the underlying node lacks: the L1 part of the fees, and a minimum base fee. */
export function createMining({ ask, shape, heads, fees }: Given) {
  let settled: Promise<unknown> = Promise.resolve()

  function mine(method: string, params: unknown[]): Promise<unknown> {
    const mined = settled.then(async () => {
      const { number } = await heads.head()
      const answer = await mineWithoutStale(ask, method, params)
      heads.forget()
      await settleSince(number)
      return answer
    })
    settled = mined.catch(() => {})
    return mined
  }

  async function settleSince(number: number): Promise<void> {
    const head = await heads.head()
    for (let next = number + 1; next <= head.number; next += 1) {
      const { transactions } = next === head.number ? head : await heads.block(next)
      // Of many blocks made at once only the first ones contain transactions.
      if (transactions.length === 0) break
      await fees.settle(transactions)
    }
    await keepBaseFee(head)
  }

  async function keepBaseFee(head: Head): Promise<void> {
    if (nextBaseFee(head) >= shape.baseFeeWei) return
    await ask('hardhat_setNextBlockBaseFeePerGas', toHex(shape.baseFeeWei))
  }

  /** With an interval of a quarter second, four blocks have the same time. */
  async function advance(seconds: number): Promise<ChainTime> {
    const start = await heads.head()
    const count = Math.max(1, Math.min(MOST_BLOCKS, Math.floor((seconds * 1_000) / shape.blockMs)))
    for (let index = 1; index <= count; index += 1) {
      await mine('evm_mine', [start.timestamp + Math.floor((index * seconds) / count)])
    }
    const { number, timestamp } = await heads.head()
    return { blockNumber: number, timestamp }
  }

  return {
    mine,
    advance,
    keepBaseFee: async () => keepBaseFee(await heads.head()),
    /** Resolves when no block is half processed: nobody sees a balance before its fees are paid. */
    whole: () => settled,
    /** The price of a unit of gas in the next block. */
    async basePrice(): Promise<bigint> {
      const next = nextBaseFee(await heads.head())
      return next > shape.baseFeeWei ? next : shape.baseFeeWei
    },
  }
}

/** EIP-1559. */
function nextBaseFee({ baseFeeWei, gasUsed, gasLimit }: Head): bigint {
  const target = gasLimit / ELASTICITY
  return baseFeeWei + (baseFeeWei * (gasUsed - target)) / target / BASE_FEE_CHANGE
}

/**
 * An authorization uses up a nonce of its authority. While the pool holds a transaction of the authority with
 * that nonce, the node makes no block at all; go-ethereum drops the transaction.
 */
async function mineWithoutStale(ask: Ask, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await ask(method, ...params)
  } catch (error) {
    const dropped = await dropStale(ask)
    if (dropped === 0) throw error
    return ask(method, ...params)
  }
}

async function dropStale(ask: Ask): Promise<number> {
  const pool = await createPoolView(ask).read()
  const used = new Set(
    pool.flatMap(({ delegations }) => delegations.map(({ authority, nonce }) => `${authority} ${nonce}`)),
  )
  const stale = pool.filter(({ from, nonce }) => used.has(`${from} ${nonce}`))
  for (const { hash } of stale) await ask('hardhat_dropTransaction', hash)
  return stale.length
}
