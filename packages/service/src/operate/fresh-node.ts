import { setTimeout as delay } from 'node:timers/promises'
import { toHex } from 'viem'
import { isUnknownBlock } from '../chains/evm/unknown-block.ts'

type Call = { method: string; params?: unknown }
type Request = (call: Call) => Promise<unknown>

/** A node whose backends lag each other, read at a block that a command has reached. */
export type FreshNode = {
  request: Request
  /** From now on, state is read at this block or a later one. */
  reach(block: bigint): void
}

type Options = { retryMs: number; patienceMs: number }

// The place of the block in the parameters of calls that read state.
const BLOCK_AT: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
}
/** Reads state at the block that was reached last, and asks again while a backend does not have it. */
export function createFreshNode(ask: Request, { retryMs, patienceMs }: Options): FreshNode {
  let reached: bigint | undefined

  async function request(call: Call): Promise<unknown> {
    const pinned = reached === undefined ? call : atBlock(call, reached)
    const end = performance.now() + patienceMs
    for (;;) {
      try {
        return await ask(pinned)
      } catch (error) {
        if (pinned === call || !isUnknownBlock(error) || performance.now() > end) throw error
        await delay(retryMs)
      }
    }
  }

  return {
    request,
    reach(block) {
      if (reached === undefined || block > reached) reached = block
    },
  }
}

/** The call with this block in place of the newest; unchanged if it reads no state, or names a block. */
function atBlock(call: Call, block: bigint): Call {
  const at = BLOCK_AT[call.method]
  const params = Array.isArray(call.params) ? [...call.params] : []
  if (at === undefined || (params[at] !== undefined && params[at] !== 'latest')) return call
  params[at] = toHex(block)
  return { ...call, params }
}

/** Repeats until there is an answer; undefined if there is none in this time. */
export async function findInTime<T>(
  { retryMs, patienceMs }: Options,
  find: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = performance.now() + patienceMs
  for (;;) {
    const found = await find()
    if (found !== undefined || performance.now() > end) return found
    await delay(retryMs)
  }
}
