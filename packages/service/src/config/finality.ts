import type { FinalityRules } from '../swap/finality.ts'

type Configured = {
  finality: Omit<FinalityRules, 'hardSeconds'> & { hardSeconds?: number | undefined }
  blockMs: number
}

/** The finality rules of a configured chain. `hardSeconds` defaults to the time of `hard` blocks. */
export function finalityOf({ finality, blockMs }: Configured): FinalityRules {
  const { hardSeconds = Math.ceil((finality.hard * blockMs) / 1_000), ...depths } = finality
  return { ...depths, hardSeconds }
}

export const blockSecondsOf = ({ blockMs }: { blockMs: number }): number => blockMs / 1_000

/** How long a head may stand still before the chain counts as down: five blocks, and at least 15 s. */
export function maxHeadAgeMs(chain: { blockMs: number; maxHeadAgeMs?: number }): number {
  return chain.maxHeadAgeMs ?? Math.max(15_000, 5 * chain.blockMs)
}
