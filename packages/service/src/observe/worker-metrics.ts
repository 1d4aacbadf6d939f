import { Counter, type Registry } from 'prom-client'
import type { Refusal } from '../chains/chain.ts'
import type { HeadFollower } from '../lanes/head-follower.ts'
import type { Role } from '../store/attempts.ts'
import { addReading } from './database-gauges.ts'

export type WorkerCounters = {
  countSent(chain: string, role: Role): void
  countReplaced(chain: string): void
  countRefused(chain: string, reason: Refusal): void
  countRejectedSignature(signer: string): void
}

type Sources = {
  followers: readonly { chain: string; follower: Pick<HeadFollower, 'downSeconds' | 'isLive'> }[]
  heldLanes(): number
  isDatabaseUp(): Promise<boolean>
}

/**
 * Figures of this worker; the API exports those in the database. Heads and lanes are known by the database: they are
 * absent while it does not answer.
 */
export function addWorkerMetrics(registry: Registry, sources: Sources): WorkerCounters {
  addStateGauges(registry, sources)
  const sent = new Counter({
    name: 'geoswap_transactions_sent_total',
    help: 'Transactions recorded and sent by this worker, by role.',
    labelNames: ['chain', 'role'],
    registers: [registry],
  })
  const replaced = new Counter({
    name: 'geoswap_transactions_replaced_total',
    help: 'Transactions of this worker that were replaced, by a fee bump or a no-op.',
    labelNames: ['chain'],
    registers: [registry],
  })
  const refused = new Counter({
    name: 'geoswap_transactions_refused_total',
    help: 'Transactions of this worker that every node of a chain refused.',
    labelNames: ['chain', 'reason'],
    registers: [registry],
  })
  const rejected = new Counter({
    name: 'geoswap_signatures_rejected_total',
    help: 'Signatures seen by this worker that the named attester did not make.',
    labelNames: ['signer'],
    registers: [registry],
  })
  return {
    countRejectedSignature: (signer) => rejected.inc({ signer }),
    countRefused: (chain, reason) => refused.inc({ chain, reason }),
    countSent: (chain, role) => sent.inc({ chain, role }),
    countReplaced: (chain) => replaced.inc({ chain }),
  }
}

function addStateGauges(registry: Registry, { followers, heldLanes, isDatabaseUp }: Sources): void {
  const specs = {
    head: {
      name: 'geoswap_chain_head_seconds',
      help: 'Seconds since the head of a chain last moved, as this worker sees it.',
      labelNames: ['chain'],
    },
    live: {
      name: 'geoswap_chain_live',
      help: '1 while the nodes of a chain answer and agree, and its head moves.',
      labelNames: ['chain'],
    },
    lanes: { name: 'geoswap_lanes_held', help: 'Lanes that this worker holds.' },
  }
  addReading(registry, specs, {
    async read() {
      if (!(await isDatabaseUp())) throw new Error('The database does not answer')
    },
    show(gauges) {
      for (const { chain, follower } of followers) {
        gauges.head.set({ chain }, follower.downSeconds())
        gauges.live.set({ chain }, follower.isLive() ? 1 : 0)
      }
      gauges.lanes.set(heldLanes())
    },
  })
}
