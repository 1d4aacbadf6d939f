import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readBuild } from './build.ts'
import type { CallMeter } from './call-meter.ts'
import { addDatabaseGauge, createDatabaseProbe } from './database-gauges.ts'
import { addNodeMetrics } from './node-metrics.ts'

type Sources = {
  pool: Pick<Pool, 'query'>
  calls: CallMeter
  chains: readonly { name: string; callsPerMinute?: number }[]
}

/** The metrics of every process: its build, its database and its nodes. Returns the probe of the database. */
export function addProcessMetrics(
  registry: Registry,
  { pool, calls, chains }: Sources,
): () => Promise<boolean> {
  const isDatabaseUp = createDatabaseProbe(pool)
  new Gauge({
    name: 'geoswap_build_info',
    help: 'Version and commit of this process. Always 1.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set(readBuild(), 1)
  addDatabaseGauge(registry, isDatabaseUp)
  addNodeMetrics(registry, calls, chains)
  return isDatabaseUp
}
