import type { Hex } from 'viem'
import { type Ask, toHex } from './call.ts'

export type Head = {
  number: number
  timestamp: number
  baseFeeWei: bigint
  gasUsed: bigint
  gasLimit: bigint
  transactions: readonly Hex[]
}
type BlockJson = {
  number: string
  timestamp: string
  baseFeePerGas: string
  gasUsed: string
  gasLimit: string
  transactions: Hex[]
}

export type Heads = {
  head(): Promise<Head>
  block(number: number): Promise<Head>
  /** The last block at or before this time; 0 if all are later. */
  lastBlockAt(timestamp: number): Promise<number>
  /** Called when the chain has a new head. */
  forget(): void
}

/** The head of the chain, read once per head. */
export function createHeads(ask: Ask): Heads {
  let known: Promise<Head> | undefined

  async function read(tag: string): Promise<Head> {
    const block = await ask<BlockJson>('eth_getBlockByNumber', tag, false)
    return {
      number: Number(block.number),
      timestamp: Number(block.timestamp),
      baseFeeWei: BigInt(block.baseFeePerGas),
      gasUsed: BigInt(block.gasUsed),
      gasLimit: BigInt(block.gasLimit),
      transactions: block.transactions,
    }
  }

  function head(): Promise<Head> {
    known ??= read('latest')
    return known
  }

  async function lastBlockAt(timestamp: number): Promise<number> {
    let low = 0
    let high = (await head()).number
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((await read(toHex(middle))).timestamp <= timestamp) low = middle
      else high = middle - 1
    }
    return low
  }

  return {
    head,
    block: (number) => read(toHex(number)),
    lastBlockAt,
    forget() {
      known = undefined
    },
  }
}
