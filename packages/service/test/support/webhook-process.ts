import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { createLaneRunner } from '../../src/engine/runner.ts'
import { takeLanes } from '../../src/store/lanes.ts'
import { createWebhookSender } from '../../src/webhooks/deliver.ts'
import { createPost } from '../../src/webhooks/post.ts'

type Options = {
  openSecret(accountId: string, sealed: string): string
  onDisabled(endpointId: string, because: string): void
}

/** A process that holds the webhooks lane; its lease ends with the test. */
export async function startTestProcess(pool: Pool, options: Options) {
  const want = { names: ['webhooks'], holder: randomUUID(), ttlMs: 60_000, limit: 1 }
  const [lease] = await takeLanes(pool, want)
  if (!lease) throw new Error('The lane is not free')
  const sender = createWebhookSender({
    pool,
    ...options,
    onAttempt: () => {},
    restMs: 0,
    now: Date.now,
    random: () => 0,
    post: createPost({ allowPrivate: true }),
    onFault(error) {
      throw error
    },
  })
  const start = () => sender.step(lease)
  const step = async () => {
    await start()
    await sender.drained()
  }
  return { start, step, stop: sender.stop }
}

/** Competes with other processes for the webhooks lane. */
export function createTestRunner(pool: Pool, openSecret: Options['openSecret']) {
  const { step } = createWebhookSender({
    pool,
    openSecret,
    now: Date.now,
    random: Math.random,
    onAttempt: () => {},
    onDisabled: () => {},
    onFault: () => {},
    post: createPost({ allowPrivate: true }),
  })
  const lane = { name: 'webhooks', tasks: [{ topics: [], step }] }
  return createLaneRunner({ pool, lanes: [lane], onFault: () => {} })
}
