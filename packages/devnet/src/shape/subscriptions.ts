import type { EvmProvider } from '../evm-provider.ts'

type Notification = { subscription: string; result: unknown }
type Send = (notification: Notification) => void

export type Subscriptions = ReturnType<typeof createSubscriptions>

// Hardhat ends a subscription after five minutes, unless its changes are asked for.
const RENEWAL_MS = 60_000

type Given = { toClient: (value: unknown) => unknown; whole: () => Promise<unknown> }

/** Maps subscriptions to connections. A block is announced once it is fully processed. */
export function createSubscriptions(provider: EvmProvider, { toClient, whole }: Given) {
  const senders = new Map<string, Send>()

  provider.on('notification', async ({ subscription, result }: Notification) => {
    await whole()
    senders.get(subscription)?.({ subscription, result: toClient(result) })
  })

  setInterval(() => {
    for (const id of senders.keys()) void provider.request({ method: 'eth_getFilterChanges', params: [id] })
  }, RENEWAL_MS).unref()

  return {
    add: (id: string, send: Send) => void senders.set(id, send),
    remove: (id: string) => void senders.delete(id),
    /** All current subscriptions stop receiving, as behind a provider with a dead stream. */
    silence(): number {
      const silenced = senders.size
      senders.clear()
      return silenced
    },
  }
}
