import type { Pool } from 'pg'
import {
  type Limits,
  type SubmitOnceDeps,
  type Submitted,
  submitOnce,
} from '../../src/stages/submit/submit-once.ts'
import { openLimits } from './limits.ts'

const HOUR_MS = 3_600_000

/** Submits an op that its wallet signed, by default with no limits and no price that moved. */
export function createSubmit(database: { readonly pool: Pool }) {
  return (
    submitted: Partial<Submitted> & { opId: string },
    limits: Partial<Limits> = {},
    paidNow: SubmitOnceDeps['paidNow'] = () => undefined,
    screening?: SubmitOnceDeps['screening'],
  ) =>
    submitOnce(
      { pool: database.pool, limits: { ...openLimits, ...limits }, paidNow, screening },
      {
        expiresAt: Date.now() + HOUR_MS,
        isOver: false,
        caller: { keyId: 'key', rules: {} },
        recheck: async () => {},
        verify: async () => ({ signature: '0x' }),
        ...submitted,
      },
    )
}
