import type { FamilyName } from '../chains/families.ts'

export const IDLE_PROCESSES = '2 API processes, 2 workers and 3 attesters, with two nodes of each chain'

/** By kind of process, calls per second to each of two nodes. */
type Measured = Readonly<Record<string, readonly number[]>>

/** By chain, while nothing happens, as `npm run bench -- idle` measured it. */
export const IDLE_CALLS: Readonly<Record<FamilyName, Readonly<Record<string, Measured>>>> = {
  evm: {
    ethereum: { worker: [0.9, 0.9] },
    base: { worker: [1.18, 1.3] },
    arbitrum: { worker: [1.32, 1.32] },
  },
  solana: { solana: { worker: [2.27, 2.18] } },
}

const MONTH_SECONDS = 30 * 86_400

export type IdleCalls = { measuredOn: string; perSecond: number; perMonth: number }

function sumOf([measuredOn, calls]: readonly [string, Measured]): IdleCalls {
  const total = Object.values(calls)
    .flat()
    .reduce((sum, each) => sum + each, 0)
  const perSecond = Number(total.toFixed(2))
  return { measuredOn, perSecond, perMonth: Math.round(perSecond * MONTH_SECONDS) }
}

/** Of a chain that was not measured: the most of its family. */
export function idleCallsOf({ name, family }: { name: string; family: FamilyName }): IdleCalls {
  const all = Object.entries(IDLE_CALLS[family]).map(sumOf)
  const most = all.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
  return all.find(({ measuredOn }) => measuredOn === name) ?? most
}
