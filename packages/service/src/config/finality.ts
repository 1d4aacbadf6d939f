import type { FinalityRules } from '../model/finality.ts'

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
