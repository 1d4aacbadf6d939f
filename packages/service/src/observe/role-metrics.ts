import type { Pool } from 'pg'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Refusal } from '../chains/chain.ts'
import type { HeadFollower } from '../engine/views.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import { countEndpoints, countWaiting } from '../store/webhook-endpoints.ts'
import type { AnyFacts, Swap, SwapChange } from '../swap/swap.ts'
import { addReading } from './ledger-metrics.ts'
import type { Logger } from './logger.ts'

type AttesterCounters = {
  countAttested(kind: string, swaps: number): void
  countRefused(): void
  /** Call it after a complete sweep of waiting swaps. */
  noteSweep(): void
  /** Seconds since the last complete sweep. */
  idleSeconds(): number
}

export function addAttesterMetrics(registry: Registry): AttesterCounters {
  const attested = new Counter({
    name: 'geoswap_attested_total',
    help: 'Swaps whose claim or refund was signed by this attester.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const refused = new Counter({
    name: 'geoswap_attestations_refused_total',
    help: 'Requests that this attester refused because its own nodes contradict them.',
    registers: [registry],
  })
  let sweptAt = performance.now()
  const idleSeconds = () => (performance.now() - sweptAt) / 1_000
  new Gauge({
    name: 'geoswap_attester_idle_seconds',
    help: 'Seconds since this attester last completed its work.',
    registers: [registry],
    collect() {
      this.set(idleSeconds())
    },
  })
  return {
    countAttested: (kind, swaps) => attested.inc({ kind }, swaps),
    countRefused: () => refused.inc(),
    idleSeconds,
    noteSweep() {
      sweptAt = performance.now()
    },
  }
}

/** `place`: its number in the configuration, from 1. Its host is internal. */
type Server = { place: number; problem(): string | undefined }
type SignerCounters = { countFault(place: number, fault: string): void }

/** Figures of the remote signers that this process uses, as `/ready` names them. */
export function addSignerMetrics(registry: Registry, servers: readonly Server[]): SignerCounters {
  new Gauge({
    name: 'geoswap_signer_up',
    help: '1 while a remote signer answers this process and holds its keys.',
    labelNames: ['signer'],
    registers: [registry],
    collect() {
      for (const { place, problem } of servers)
        this.set({ signer: String(place) }, problem() === undefined ? 1 : 0)
    },
  })
  const faults = new Counter({
    name: 'geoswap_signer_faults_total',
    help: 'Answers of a remote signer to this process that gave no usable signature.',
    labelNames: ['signer', 'fault'],
    registers: [registry],
  })
  return { countFault: (place, fault) => faults.inc({ signer: String(place), fault }) }
}

export function addWebhookMetrics(registry: Registry, pool: Pool) {
  const attempts = new Counter({
    name: 'geoswap_webhook_attempts_total',
    help: 'Webhooks posted by this process, by whether the endpoint accepted them.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const deliveries = {
    name: 'geoswap_webhook_deliveries',
    help: 'Events due to endpoints: waiting for their next attempt, or given up.',
    labelNames: ['state'],
  }
  addReading(
    registry,
    { deliveries },
    {
      read: () => countWaiting(pool),
      show(gauges, counts) {
        if (!counts) return

        gauges.deliveries.set({ state: 'waiting' }, counts.waiting)
        gauges.deliveries.set({ state: 'givenUp' }, counts.givenUp)
      },
    },
  )
  const endpoints = {
    name: 'geoswap_webhook_endpoints',
    help: 'Endpoints by whether they accept deliveries.',
    labelNames: ['state'],
  }
  addReading(
    registry,
    { endpoints },
    {
      read: () => countEndpoints(pool),
      show(gauges, counts) {
        for (const [state, count] of Object.entries(counts ?? {})) gauges.endpoints.set({ state }, count)
      },
    },
  )
  return (outcome: 'delivered' | 'failed') => attempts.inc({ outcome })
}

type WorkerCounters = {
  countSent(chain: string, role: Role): void
  countReplaced(chain: string): void
  countRefused(chain: string, reason: Refusal): void
  countRejectedSignature(signer: string): void
  countSettled(promise: 'kept' | 'late'): void
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
  const settled = new Counter({
    name: 'geoswap_settled_total',
    help: 'Swaps that this worker saw settle, late if they took over twice the time that their chains plan.',
    labelNames: ['promise'],
    registers: [registry],
  })
  // A series that begins above zero has no increase.
  for (const promise of ['kept', 'late']) settled.inc({ promise }, 0)
  return {
    countSettled: (promise) => settled.inc({ promise }),
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
    settled: counters.countSettled,
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
