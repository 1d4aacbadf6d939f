import { type FamilyName, familyOf } from '../chains/families.ts'
import type { ChainConfig } from '../config.ts'

export const IDLE_PROCESSES = '2 API processes, 2 workers and 3 attesters, with two nodes of each chain'

/** Calls per second to each of two nodes, by kind of process. */
type Measured = { family: FamilyName; calls: Readonly<Record<string, readonly number[]>> }

/** While nothing happens, as `npm run bench -- idle` measured it. */
export const IDLE_CALLS: Readonly<Record<string, Measured>> = {
  ethereum: { family: 'evm', calls: { worker: [1.05, 1.05] } },
  base: { family: 'evm', calls: { worker: [1.03, 1.02] } },
  arbitrum: { family: 'evm', calls: { worker: [1.15, 1.15] } },
  solana: { family: 'solana', calls: { worker: [2.2, 2.2] } },
}

const MONTH_SECONDS = 30 * 86_400

export type IdleCalls = { measuredOn: string; perSecond: number; perMonth: number }

export function idleCallsOn(measuredOn: string): IdleCalls {
  const calls = Object.values(IDLE_CALLS[measuredOn]?.calls ?? {}).flat()
  const perSecond = Number(calls.reduce((sum, each) => sum + each, 0).toFixed(2))
  return { measuredOn, perSecond, perMonth: Math.round(perSecond * MONTH_SECONDS) }
}

/** Of a chain that was not measured: the most of its family. */
export function idleCallsOf(chain: Pick<ChainConfig, 'name' | 'family'>): IdleCalls {
  if (IDLE_CALLS[chain.name]) return idleCallsOn(chain.name)
  const alike = Object.entries(IDLE_CALLS).filter(([, { family }]) => family === familyOf(chain).name)
  const [most] = alike.map(([name]) => idleCallsOn(name)).sort((a, b) => b.perSecond - a.perSecond)
  return most ?? idleCallsOn(chain.name)
}
