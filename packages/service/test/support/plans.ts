import type { Pool } from 'pg'
import type { Db } from '../../src/store/db.ts'

/**
 * A database that explains statements instead of running them; each returns no rows. `plans` has the plans in order.
 */
export function explaining(pool: Pool): { db: Db; plans: string[] } {
  const plans: string[] = []
  const query = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    return { rows: [], rowCount: 0 }
  }
  return { plans, db: Object.assign(Object.create(pool), { query }) }
}
