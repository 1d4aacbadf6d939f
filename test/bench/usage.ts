import type { Pool } from 'pg'
import { now } from './clock.ts'

/** Counts of a network, of which the differences matter. `calls`: to nodes, by workers and attesters. */
export type Usage = { seconds: number; transactions: number; walBytes: number; calls: number }

export async function readUsage(pool: Pool, metricsUrls: readonly string[]): Promise<Usage> {
  const { rows } = await pool.query<{ transactions: string; wal: string }>(
    `select xact_commit + xact_rollback as transactions, pg_current_wal_lsn() - '0/0' as wal
       from pg_stat_database where datname = current_database()`,
  )
  const texts = await Promise.all(metricsUrls.map(async (url) => (await fetch(url)).text()))
  return {
    seconds: now() / 1_000,
    transactions: Number(rows[0]?.transactions),
    walBytes: Number(rows[0]?.wal),
    calls: texts.reduce((sum, text) => sum + countCalls(text), 0),
  }
}

/** The calls to nodes that a process counts in its metrics. */
function countCalls(metrics: string): number {
  const counts = [...metrics.matchAll(/^geoswap_node_calls_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

export function usedBetween(before: Usage, after: Usage): Usage {
  return {
    seconds: after.seconds - before.seconds,
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
    calls: after.calls - before.calls,
  }
}
