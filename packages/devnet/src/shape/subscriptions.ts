import type { EvmProvider } from '../evm-provider.ts'

type Notification = { subscription: string; result: unknown }
type Send = (notification: Notification) => void

export type Subscriptions = ReturnType<typeof createSubscriptions>

/** Which connection hears which subscription. */
export function createSubscriptions(provider: EvmProvider, toClient: (value: unknown) => unknown) {
  const senders = new Map<string, Send>()

  provider.on('notification', ({ subscription, result }: Notification) => {
    senders.get(subscription)?.({ subscription, result: toClient(result) })
  })

  return {
    add: (id: string, send: Send) => void senders.set(id, send),
    remove: (id: string) => void senders.delete(id),
    /** All that exist now hear nothing any more, as behind a provider whose stream died. */
    silence(): number {
      const silenced = senders.size
      senders.clear()
      return silenced
    },
  }
}
