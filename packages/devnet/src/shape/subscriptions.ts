import type { EvmProvider } from '../evm-provider.ts'

type Notification = { subscription: string; result: unknown }
type Send = (notification: Notification) => void

export type Subscriptions = ReturnType<typeof createSubscriptions>

type Given = { toClient: (value: unknown) => unknown; whole: () => Promise<unknown> }

/** Maps subscriptions to connections. A block is announced once it is fully processed. */
export function createSubscriptions(provider: EvmProvider, { toClient, whole }: Given) {
  const senders = new Map<string, Send>()

  provider.on('notification', async ({ subscription, result }: Notification) => {
    await whole()
    senders.get(subscription)?.({ subscription, result: toClient(result) })
  })

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
