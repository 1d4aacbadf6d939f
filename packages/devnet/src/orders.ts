import type { ChildProcess } from 'node:child_process'

// A key on a command line is there for every user of the machine to read, so children that need one get it
// over the channel to their parent, as their first message.

export function giveOrders(child: ChildProcess, orders: object): ChildProcess {
  child.send({ orders }, () => {
    // A child that ends before it reads them is reported by its exit.
  })
  return child
}

/** What the parent gave this child. The child and its parent are of one version, so the shape is trusted. */
export function nextOrders<T extends object>(): Promise<T> {
  return new Promise((resolve) => {
    process.once('message', (message: { orders: T }) => {
      process.channel?.unref()
      resolve(message.orders)
    })
    process.channel?.ref()
  })
}
