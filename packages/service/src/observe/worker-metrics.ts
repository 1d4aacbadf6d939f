import { Counter, type Registry } from 'prom-client'
import type { Refusal } from '../chains/chain.ts'
import type { HeadFollower } from '../engine/chain-follower.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import type { AnyFacts, Swap, SwapChange } from '../swap/swap.ts'
import { addReading } from './ledger-metrics.ts'
import type { Logger } from './logger.ts'

type WorkerCounters = {
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

type Sent = { role: Role; swapIds: readonly string[]; txHash: string }
type Replaced = { attempt: Attempt; swapIds: readonly string[]; by: string }

const REMEMBERED = 1_000

/** Logs and counts the events of a worker. */
export function createWorkerEvents(logger: Logger, counters: WorkerCounters) {
  const rejected = new Set<string>()
  return {
    moved({ id: swapId, state }: Swap, { event, ...facts }: SwapChange) {
      const { failureCode, refundReason }: AnyFacts = facts
      logger.info({ swapId, event, state, reason: failureCode ?? refundReason }, 'swap moved')
    },
    /** Once for each, however often it is read. */
    signatureRejected(attestation: string, { signer, writtenBy }: { signer: string; writtenBy: string }) {
      const key = `${attestation} ${signer} ${writtenBy}`
      if (rejected.has(key)) return
      if (rejected.size >= REMEMBERED) rejected.clear()
      rejected.add(key)
      logger.error({ attestation, signer, writtenBy }, 'not a signature of this attester')
      counters.countRejectedSignature(signer)
    },
    unsigned: ({ id: swapId }: { id: string }) =>
      logger.error({ swapId }, 'its wallet did not sign the stored terms'),
    /** Events of the transactions that a key sends on a chain. */
    ofSender: (chain: string, address: string) => ({
      onSent(sent: Sent) {
        logger.info({ chain, ...sent }, 'sent')
        counters.countSent(chain, sent.role)
      },
      onSendFault: (err: unknown, txHash: string) =>
        logger.warn({ err, chain, txHash }, 'send not confirmed'),
      onRefused(reason: Refusal, txHash: string) {
        logger.warn({ chain, address, txHash, reason }, 'every node refused')
        counters.countRefused(chain, reason)
      },
      onReplaced({ attempt: { txHash, role, replacement }, swapIds, by }: Replaced) {
        logger.info({ chain, swapIds, txHash, by, role, replacement }, 'replaced')
        counters.countReplaced(chain)
      },
    }),
  }
}

export type WorkerEvents = ReturnType<typeof createWorkerEvents>
