import type { Pool } from 'pg'
import type { Registry } from 'prom-client'
import type { Config, NetworkConfig } from '../config.ts'
import { createLaneRunner } from '../engine/runner.ts'
import type { Logger } from '../observe/logger.ts'
import { addWebhookMetrics } from '../observe/role-metrics.ts'
import { createSealer, type Sealer } from '../seal/sealer.ts'
import { createWebhookSender } from '../webhooks/deliver.ts'
import { createPost } from '../webhooks/post.ts'
import { createSecretSeal, resealAll } from '../webhooks/sign.ts'

/** Seals with the first configured key and opens with any. */
export function createConfiguredSealer(sealKeys: Config['sealKeys']): Sealer {
  return createSealer({
    keys: sealKeys.map(({ id, key }) => ({ id, key: Buffer.from(key.reveal(), 'hex') })),
  })
}

type Parts = { network: NetworkConfig; pool: Pool; sealer: Sealer; logger: Logger; registry: Registry }

type Webhooks = { start(): Promise<void>; close(): Promise<void> }

/**
 * Sends webhooks, in one API process at a time, by lease. API processes have the keys that seal webhook secrets, but
 * none that moves money, which matters for calls to addresses that strangers chose.
 */
export function composeWebhooks({ network, pool, sealer, logger, registry }: Parts): Webhooks {
  const seal = createSecretSeal(sealer)
  const onFault = (error: unknown) => logger.warn({ err: error }, 'webhooks failed')
  const countAttempt = addWebhookMetrics(registry, pool)
  const sender = createWebhookSender({
    pool,
    post: createPost({ allowPrivate: network.webhooks.allowPrivateAddresses }),
    openSecret: seal.open,
    now: Date.now,
    random: Math.random,
    onAttempt({ webhookId, verdict }) {
      countAttempt(verdict.kind === 'delivered' ? 'delivered' : 'failed')
      if (verdict.kind === 'delivered') logger.debug({ webhookId }, 'webhook delivered')
      else logger.info({ webhookId, verdict }, 'webhook not delivered')
    },
    onDisabled: (endpointId, because) => logger.warn({ endpointId, because }, 'webhook endpoint disabled'),
    onFault,
  })
  // Polls once a second: a wake-up would cost every swap a notification.
  const lane = { name: 'webhooks', tasks: [{ topics: [], step: sender.step }] }
  const runner = createLaneRunner({ pool, lanes: [lane], onFault })
  return {
    async start() {
      await resealAll(pool, seal, onFault)
      await runner.start()
    },
    async close() {
      await runner.stop()
      await sender.stop()
    },
  }
}
