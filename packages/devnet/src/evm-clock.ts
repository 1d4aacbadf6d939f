export type Call = { method: string; params?: unknown[] }
type Ask = (call: Call) => Promise<unknown>

const BLOCK: Call = { method: 'evm_mine', params: [] }
const MINING = ['evm_mine', 'hardhat_mine', 'shape_advance']

/** The shortest and longest time between two blocks; no blocks if the first is 0. */
type BlockInterval = readonly [least: number, most: number]

/**
 * Mines a chain by the clock, and returns a function for all other requests. The node could mine by itself,
 * but crashes when one of its own blocks and a requested one are made at the same time. Here blocks are made
 * one after the other.
 */
export function mineByTheClock(ask: Ask, blockMs: number, onFault: (error: unknown) => void): Ask {
  let turn: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let interval: BlockInterval = [blockMs, blockMs]

  function inTurn(call: Call): Promise<unknown> {
    const answer = turn.then(() => ask(call))
    turn = answer.catch(() => {})
    return answer
  }

  function schedule(): void {
    clearTimeout(timer)
    const current = interval
    const [least, most] = current
    if (least === 0) return
    timer = setTimeout(
      async () => {
        await inTurn(BLOCK).catch(onFault)
        if (interval === current) schedule()
      },
      least + Math.random() * (most - least),
    )
  }

  schedule()
  return async (call) => {
    if (MINING.includes(call.method)) return inTurn(call)
    const asked = call.method === 'evm_setIntervalMining' ? parseInterval(call.params) : undefined
    if (!asked) return ask(call)
    interval = asked
    schedule()
    // Once this is answered, the previous interval makes no more blocks.
    await turn
    return true
  }
}

/** Undefined for values that the node refuses. */
function parseInterval(params: readonly unknown[] = []): BlockInterval | undefined {
  const [given] = params
  const [least, most, ...more] = Array.isArray(given) ? given : [given, given]
  const areTimes = [least, most].every((ms) => Number.isInteger(ms) && ms >= 0)
  return params.length === 1 && more.length === 0 && areTimes && least <= most ? [least, most] : undefined
}
