import type { Refusal } from '../chains/chain.ts'
import type { Swap } from '../model/swap.ts'
import type { Attempt, Role } from '../store/attempts.ts'
import type { Logger } from './logger.ts'
import type { WorkerCounters } from './worker-metrics.ts'

type Sent = { role: Role; swapIds: readonly string[]; txHash: string }
type Replaced = { attempt: Attempt; swapIds: readonly string[]; by: string }

const REMEMBERED = 1_000

/** Logs and counts the events of a worker. */
export function createWorkerEvents(logger: Logger, counters: WorkerCounters) {
  const rejected = new Set<string>()
  const logMove = (name: string) => (swap: Swap, detail?: string) =>
    logger.info({ swapId: swap.id, state: swap.state, detail }, name)
  return {
    originMoved: logMove('origin'),
    settled: logMove('settled'),
    refundDecided: logMove('refund decided'),
    declined: logMove('failed'),
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
