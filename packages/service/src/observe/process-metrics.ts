import { readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { Counter, Gauge, type Registry } from 'prom-client'
import { createDatabaseProbe, type DatabaseProbe } from '../store/server.ts'
import type { CallMeter } from './call-meter.ts'
import { addDatabaseGauges } from './ledger-metrics.ts'

// The built file has the commit that it was built from: scripts/build.ts.
declare const GEOSWAP_COMMIT: string | undefined

/** The version of the service, and the commit of the built file if it was known. */
function readBuild(): { version: string; commit: string } {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return { version, commit: typeof GEOSWAP_COMMIT === 'string' ? GEOSWAP_COMMIT : 'unknown' }
}

export function describeBuild(): string {
  const { version, commit } = readBuild()
  return `geoswap service ${version} (commit ${commit})`
}

type Budget = { name: string; callsPerMinute?: number | undefined }

/** Calls of this process to its nodes. Nodes are named by their host; methods are those that the service calls. */
export function addNodeMetrics(registry: Registry, meter: CallMeter, chains: readonly Budget[]): void {
  new Counter({
    name: 'geoswap_node_calls_total',
    help: 'Calls of this process to a node, which is named by its place in the list of URLs, from 1.',
    labelNames: ['chain', 'node', 'method'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, node, byMethod } of meter.nodes())
        for (const [method, count] of byMethod) this.inc({ chain, node, method }, count)
    },
  })
  new Counter({
    name: 'geoswap_node_failures_total',
    help: 'Requests of this process that a node did not answer, or refused by its HTTP status.',
    labelNames: ['chain', 'node'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { chain, node, failed } of meter.nodes()) this.inc({ chain, node }, failed)
    },
  })
  new Gauge({
    name: 'geoswap_node_up',
    help: '0 while a node has not answered this process for ten seconds. Absent if it was not asked lately.',
    labelNames: ['chain', 'node'],
    registers: [registry],
    collect() {
      this.reset()
      for (const calls of meter.nodes()) {
        const isUp = meter.isUp(calls)
        if (isUp !== undefined) this.set({ chain: calls.chain, node: calls.node }, isUp ? 1 : 0)
      }
    },
  })
  new Gauge({
    name: 'geoswap_node_budget_used_ratio',
    help: 'Calls of this process in the last minute, as a part of callsPerMinute. Sum it over processes.',
    labelNames: ['chain'],
    registers: [registry],
    collect() {
      for (const { name, callsPerMinute } of chains)
        if (callsPerMinute !== undefined) this.set({ chain: name }, meter.lastMinute(name) / callsPerMinute)
    },
  })
}

type Sources = {
  pool: Pick<Pool, 'query'>
  calls: CallMeter
  chains: readonly { name: string; callsPerMinute?: number }[]
}

/** The metrics of every process: its build, its database and its nodes. Returns the probes of the database. */
export function addProcessMetrics(registry: Registry, { pool, calls, chains }: Sources): DatabaseProbe {
  const database = createDatabaseProbe(pool)
  new Gauge({
    name: 'geoswap_build_info',
    help: 'Version and commit of this process. Always 1.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set(readBuild(), 1)
  addDatabaseGauges(registry, database)
  addNodeMetrics(registry, calls, chains)
  return database
}
